// No mapping of the process may be writable and executable, what is executable can't be made writable, and
// shared code has no writable view.
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int main(void) {
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[512];
  int shared_code = 0;
  while (fgets(line, sizeof line, maps)) {
    unsigned long start, end;
    char permissions[5];
    if (sscanf(line, "%lx-%lx %4s", &start, &end, permissions) != 3) continue;
    const int writable = permissions[1] == 'w', executable = permissions[2] == 'x';
    if (writable && executable) printf("writable and executable: %s", line);
    if (strstr(line, "/memfd:stab ") == NULL) continue;
    if (writable) printf("writable view: %s", line);
    shared_code += executable;
    if (mprotect((void *)start, end - start, PROT_READ | PROT_WRITE) == 0) printf("could be made writable: %s", line);
  }
  fclose(maps);
  printf("%s\n", shared_code >= 2 ? "text and images are shared" : "text is private");
  return 0;
}
