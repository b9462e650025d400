// Edit distance where a change of case costs nothing.
function distance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const change = (row[j - 1] as number) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next[j] = Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1);
    }
    row = next;
  }
  return row[right.length] as number;
}

/** The names near to `word`, nearest first, at most five. */
export function suggest(word: string, names: readonly string[]): string[] {
  if (word.length > 64) return [];
  const lower = word.toLowerCase();
  return names
    .map((name) => ({ name, far: distance(lower, name.toLowerCase()) }))
    .filter(({ name, far }) => far <= name.length * 0.4 + 1 || (lower.length > 2 && name.includes(lower)))
    .sort((a, b) => a.far - b.far)
    .slice(0, 5)
    .map(({ name }) => name);
}
