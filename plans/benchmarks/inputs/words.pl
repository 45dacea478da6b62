# Words made, counted, rewritten by regular expressions and sorted: hashes, strings, the regular expression engine.
my ($rounds, $state, $sum) = ($ARGV[0], 12345, 0);
my @sounds = qw(ba co di fe gu ha ki lo mu ne pa ro);
sub draw { $state = ($state * 1103515245 + 12345) % 2147483648; return ($state >> 8) % $_[0]; }
for my $round (1 .. $rounds) {
  my (%count, @words);
  for (1 .. 6000) {
    my $word = join '', map { $sounds[draw(12)] } 1 .. 3;
    $count{$word}++;
    push @words, $word;
  }
  my @sorted = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
  my $text = join ' ', @words;
  $text =~ s/(\w)o(\w)/$2u$1/g;
  my @found = $text =~ /\b(\w*?)ru\w+/g;
  $sum = ($sum * 31 + @sorted + length(join '', @found) + ord $sorted[7]) % 1000000007;
}
print "$sum\n";
