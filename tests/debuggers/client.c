/* Plays a debugger: loads the library of message queues and prints the queues of a process, or of its core file.
 * client LIBRARY PID | client LIBRARY CORE PROGRAM-LIBRARY-BASE-FILE */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef unsigned long address;
typedef long word;
struct communicator { address id; word rank, size; char name[64]; };
struct operation {
    int status;
    word local, global;
    int wild;
    word tag, length;
    int system;
    address buffer;
    word actual_local, actual_global, actual_tag, actual_length;
    char text[5][64];
};
struct basic {
    void *(*allocate)(size_t);
    void (*release)(void *);
    void (*print)(const char *);
    char *(*error)(int);
    void (*put_image)(void *, void *);
    void *(*get_image)(void *);
    void (*put_process)(void *, void *);
    void *(*get_process)(void *);
};
struct image {
    void (*sizes)(void *, void *);
    int (*function)(void *, char *, int, address *);
    int (*symbol)(void *, char *, address *);
    void *(*type)(void *, char *, int);
    int (*offset)(void *, char *);
    int (*size)(void *);
};
struct process {
    int (*rank)(void *);
    void *(*image)(void *);
    int (*fetch)(void *, address, int, void *);
    void (*convert)(void *, const void *, void *, int);
};

static void *image_info, *process_info;
static int memory = -1;
static char *core;
static size_t core_bytes;
static address symbol_at;
static char image_of_debugger, process_of_debugger;

static void put_image(void *image, void *info) { (void)image, image_info = info; }
static void *get_image(void *image) { return (void)image, image_info; }
static void put_process(void *process, void *info) { (void)process, process_info = info; }
static void *get_process(void *process) { return (void)process, process_info; }
static int find_symbol(void *image, char *name, address *at) {
    (void)image;
    *at = symbol_at;
    return strcmp(name, "ferrum_queue_map") != 0 || symbol_at == 0;
}
static void *image_of(void *process) { return (void)process, &image_of_debugger; }

static int fetch(void *process, address at, int bytes, void *into) {
    (void)process;
    if (core == NULL)
        return pread(memory, into, bytes, (off_t)at) != bytes;
    Elf64_Ehdr *head = (Elf64_Ehdr *)core;
    Elf64_Phdr *part = (Elf64_Phdr *)(core + head->e_phoff);
    for (char *out = into; bytes > 0;) {
        int i = 0;
        while (i < head->e_phnum && !(part[i].p_type == PT_LOAD && at >= part[i].p_vaddr &&
                                      at - part[i].p_vaddr < part[i].p_filesz))
            i++;
        if (i == head->e_phnum)
            return 1;
        size_t within = at - part[i].p_vaddr, some = part[i].p_filesz - within;
        if (some > (size_t)bytes)
            some = bytes;
        if (part[i].p_offset + within + some > core_bytes)
            return 1;
        memcpy(out, core + part[i].p_offset + within, some);
        out += some, at += some, bytes -= (int)some;
    }
    return 0;
}

/* The symbol's offset in the library, and where a process has mapped it. */
static address offset_in(const char *file) {
    struct stat facts;
    int fd = open(file, O_RDONLY);
    if (fd < 0 || fstat(fd, &facts) != 0)
        return 0;
    char *image = mmap(NULL, facts.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    Elf64_Ehdr *head = (Elf64_Ehdr *)image;
    Elf64_Shdr *part = (Elf64_Shdr *)(image + head->e_shoff);
    for (int i = 0; i < head->e_shnum; i++)
        if (part[i].sh_type == SHT_DYNSYM)
            for (Elf64_Sym *symbol = (Elf64_Sym *)(image + part[i].sh_offset),
                           *end = (Elf64_Sym *)((char *)symbol + part[i].sh_size);
                 symbol < end; symbol++)
                if (strcmp(image + part[part[i].sh_link].sh_offset + symbol->st_name, "ferrum_queue_map") == 0)
                    return symbol->st_value;
    return 0;
}

static void find_in(const char *maps) {
    char line[4096], path[4096];
    FILE *file = fopen(maps, "r");
    address start, offset;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "%lx-%*x %*s %lx %*s %*s %4095s", &start, &offset, path) == 3 && offset == 0 &&
            strstr(path, "libmpi_abi.so")) {
            symbol_at = start + offset_in(path);
            break;
        }
    if (file)
        fclose(file);
}

#define LOOK(type, name, ...) type (*name)(__VA_ARGS__) = (type(*)(__VA_ARGS__))dlsym(library, "mqs_" #name)

int main(int argc, char **argv) {
    char path[64];
    void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (library == NULL)
        return fprintf(stderr, "%s\n", argc > 2 ? dlerror() : "client LIBRARY PID | client LIBRARY CORE MAPS"), 2;
    if (argc > 3) {
        struct stat facts;
        int fd = open(argv[2], O_RDONLY);
        if (fd < 0 || fstat(fd, &facts) != 0)
            return perror(argv[2]), 2;
        core_bytes = facts.st_size;
        core = mmap(NULL, core_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
        find_in(argv[3]);
    } else {
        snprintf(path, sizeof path, "/proc/%s/mem", argv[2]);
        memory = open(path, O_RDONLY);
        snprintf(path, sizeof path, "/proc/%s/maps", argv[2]);
        find_in(path);
    }
    LOOK(void, setup_basic_callbacks, const struct basic *);
    LOOK(int, version_compatibility, void);
    LOOK(int, dll_taddr_width, void);
    LOOK(int, setup_image, void *, const struct image *);
    LOOK(int, image_has_queues, void *, char **);
    LOOK(int, setup_process, void *, const struct process *);
    LOOK(int, process_has_queues, void *, char **);
    LOOK(int, update_communicator_list, void *);
    LOOK(int, setup_communicator_iterator, void *);
    LOOK(int, get_communicator, void *, struct communicator *);
    LOOK(int, get_comm_group, void *, int *);
    LOOK(int, next_communicator, void *);
    LOOK(int, setup_operation_iterator, void *, int);
    LOOK(int, next_operation, void *, struct operation *);
    LOOK(void, destroy_process_info, void *);
    LOOK(void, destroy_image_info, void *);
    static const char *classes[] = {"send", "receive", "unexpected"};
    static const struct basic basic = {malloc, free, NULL, NULL, put_image, get_image, put_process, get_process};
    static const struct image of_image = {NULL, NULL, find_symbol, NULL, NULL, NULL};
    static const struct process of_process = {NULL, image_of, fetch, NULL};
    void *process = &process_of_debugger;
    char *message = "";
    setup_basic_callbacks(&basic);
    if (version_compatibility() != 2 || dll_taddr_width() != 8)
        return fprintf(stderr, "another interface\n"), 1;
    if (setup_image(&image_of_debugger, &of_image) || image_has_queues(&image_of_debugger, &message) ||
        setup_process(process, &of_process) || process_has_queues(process, &message) ||
        update_communicator_list(process))
        return printf("no queues: %s\n", message), 1;
    for (int code = setup_communicator_iterator(process); code == 0; code = next_communicator(process)) {
        struct communicator comm;
        struct operation made;
        get_communicator(process, &comm);
        int *group = calloc(comm.size, sizeof *group);
        get_comm_group(process, group);
        printf("communicator %s: rank %ld of %ld, first %d\n", comm.name, comm.rank, comm.size, group[0]);
        free(group);
        for (int class = 0; class < 3; class++)
            if (setup_operation_iterator(process, class) == 0)
                while (next_operation(process, &made) == 0)
                    printf("  %s rank %ld (%ld) tag %ld%s bytes %ld%s%s\n", classes[class], made.local, made.global,
                           made.tag, made.wild ? " any" : "", made.length, made.text[0][0] ? ": " : "", made.text[0]);
    }
    destroy_process_info(process_info);
    destroy_image_info(image_info);
    return 0;
}
