/* Kernels that misbehave, and one that does not. Each takes the memory's address and a number. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

unsigned counter = 0;

/* The first number becomes the second, and the global that number of launches. */
void add(unsigned *memory, unsigned long number) { memory[0] += (unsigned)number + ++counter; }
/* Also when its address is given as another one. */
void other(unsigned *memory, unsigned long number) { memory[0] += (unsigned)number + 2 * ++counter; }
void crash(unsigned *memory, unsigned long number) { memory[0] = *(volatile unsigned *)number; }
void hang(unsigned *memory, unsigned long number) { (void)number; for (;;) *(volatile unsigned *)memory = 1; }
void hungry(unsigned *memory, unsigned long number) {
    char *all = malloc(number);
    if (!all) { fputs("there is no memory\n", stderr); exit(7); }
    memset(all, 1, number);
    memory[0] = (unsigned)all[number - 1];
    free(all);
}
void talk(unsigned *memory, unsigned long number) { printf("[1,2,3]\n%lu\n", number); fflush(stdout); memory[0] = 1; }
void leave(unsigned *memory, unsigned long number) { (void)memory, (void)number; _exit(0); }
/* Its own outcome in each process, and in each run of one. */
void noise(unsigned *memory, unsigned long number) { static unsigned runs; memory[0] = (unsigned)number + runs++ % 3; }
void sum(unsigned *memory, unsigned long a, unsigned long b, unsigned long c, unsigned long d, unsigned long e,
         unsigned long f, unsigned long g, unsigned long h) {
    memory[0] = (unsigned)(a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f + 1000000 * g + 10000000 * h);
}
