// Goroutines whose stacks grow and are walked, collections of garbage, a recovered panic.
package main

import (
	"fmt"
	"runtime"
	"sync"
)

func descend(depth int, failAt int) (sum int) {
	var local [64]int
	for i := range local {
		local[i] = depth * i
	}
	if depth == failAt {
		panic(fmt.Sprint("at ", depth))
	}
	if depth == 0 {
		return local[1]
	}
	return local[3]%7 + descend(depth-1, failAt)
}

func guarded(depth int, failAt int) (sum int) {
	defer func() {
		if r := recover(); r != nil {
			sum = len(r.(string))
		}
	}()
	return descend(depth, failAt)
}

func main() {
	var wait sync.WaitGroup
	sums := make([]int, 4)
	for w := range sums {
		wait.Add(1)
		go func(w int) {
			defer wait.Done()
			words := map[string]int{}
			for round := 0; round < 200; round++ {
				sums[w] += guarded(100+w, round%150)
				words[fmt.Sprint("w", round%37)]++
				if round%20 == 0 {
					runtime.GC()
				}
			}
			sums[w] += len(words)
		}(w)
	}
	wait.Wait()
	fmt.Println(sums)
}
