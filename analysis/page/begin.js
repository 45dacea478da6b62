(() => {
'use strict';
// The report page: its files are joined in the order of analysis/CMakeLists.txt and share one scope. Numbers come from
// the JSON blocks and columns that C++ wrote; here they are formatted, placed and drawn.
