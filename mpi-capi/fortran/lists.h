/* Lists whose length is no argument: texts that end with a blank one, and handles for each process or neighbour. */
#ifndef FERRUM_FORTRAN_LISTS_H
#define FERRUM_FORTRAN_LISTS_H

/* Whether the calling process is the root, for arguments that are significant there only. */
FERRUM_LOCAL int ferrum_is_root(MPI_Comm comm, MPI_Fint root);

/* The processes that each process exchanges data with, and the neighbours that it sends to and receives from; 0 for a
 * handle of no communicator, which the call reports. */
FERRUM_LOCAL MPI_Fint ferrum_peers(MPI_Comm comm);
FERRUM_LOCAL MPI_Fint ferrum_destinations(MPI_Comm comm);
FERRUM_LOCAL MPI_Fint ferrum_sources(MPI_Comm comm);

/* Makes a list of C out of `count` texts of `length` characters, or of those before the first blank one if `count` is
 * negative. False if there is no memory. The caller frees the list, which includes its texts. */
FERRUM_LOCAL int ferrum_texts(const char *texts, size_t length, MPI_Fint count, char ***made);

/* The same for a matrix with a list in each of `count` rows. */
FERRUM_LOCAL int ferrum_text_lists(const char *texts, size_t length, MPI_Fint count, char ****made);

#endif
