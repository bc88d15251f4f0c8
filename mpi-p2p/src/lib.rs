//! Point-to-point communication: matching, protocols, requests, probes.
