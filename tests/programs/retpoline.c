/* Computed gotos and calls through pointers where indirect branches are mitigated.
   flags: -mretpoline */
#include "computed_goto.c"
