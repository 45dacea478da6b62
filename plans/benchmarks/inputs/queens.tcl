# Counts the solutions of the queens problem, then sorts and joins strings: procedures, lists, dictionaries.
proc place {size row columns up down} {
  if {$row == $size} { return 1 }
  set found 0
  for {set c 0} {$c < $size} {incr c} {
    set u [expr {$row + $c}]
    set d [expr {$row - $c}]
    if {$c in $columns || $u in $up || $d in $down} continue
    incr found [place $size [expr {$row + 1}] [concat $columns $c] [concat $up $u] [concat $down $d]]
  }
  return $found
}
set size [lindex $argv 0]
puts [place $size 0 {} {} {}]

set state 1
set count {}
for {set i 0} {$i < 150000} {incr i} {
  set state [expr {($state * 16807) % 2147483647}]
  dict incr count "word[expr {$state % 977}]"
}
set list {}
dict for {word n} $count { lappend list [list $word $n] }
puts [lrange [lsort -integer -decreasing -index 1 [lsort -index 0 $list]] 0 4]
