/** The known name that a mistyped one most likely meant, or undefined when none is close. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const wanted = name.toLowerCase().replace(/[^a-z0-9]/g, '');
  if (wanted.length > 60) return undefined;
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of known) {
    const plain = candidate.toLowerCase().replace(/[^a-z0-9]/g, '');
    const distance = plain.includes(wanted) && wanted.length > 3 ? 1 : editDistance(wanted, plain);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      next[j] = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + cost);
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
