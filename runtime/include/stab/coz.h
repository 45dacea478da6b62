/* coz.h: COZ's names for progress points, for programs that are written for COZ and are to be compiled without it.
 *
 * Programs that include COZ's own header are counted, too, as they are: the runtime answers what that looks up
 * (docs/how-to/count-work.md). COZ_PROGRESS names a point by file and line, as there; a file's name of more than some 100 bytes
 * needs COZ_PROGRESS_NAMED.
 */
#ifndef STAB_COZ_H
#define STAB_COZ_H

#include "stab/progress.h"

#define STAB_COZ_TEXT_(x) #x
#define STAB_COZ_LINE_(x) STAB_COZ_TEXT_(x)

#define COZ_PROGRESS STAB_PROGRESS(__FILE__ ":" STAB_COZ_LINE_(__LINE__))
#define COZ_PROGRESS_NAMED(name) STAB_PROGRESS(name)
#define COZ_BEGIN(name) STAB_BEGIN(name)
#define COZ_END(name) STAB_END(name)
#define COZ_ARRIVAL(name) STAB_ARRIVAL(name)

#endif
