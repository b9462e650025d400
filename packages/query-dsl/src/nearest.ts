/**
 * The candidate closest to a mistyped name, or undefined when none is close enough to ask "did you
 * mean". Case and separators do not count, so `minTalkMinutes` finds `min_talk_minutes`; the start
 * or a whole word of a candidate finds it too. A prefix that several candidates share, such as
 * `ppc_`, says nothing about which one was meant and does not make a name similar.
 *
 * @example
 * nearest('talk_minuts', ['date_added', 'talk_minutes']); // 'talk_minutes'
 * nearest('ppc_zebra', ['ppc_status', 'ppc_campaign']); // undefined
 */
export function nearest(typed: string, candidates: readonly string[]): string | undefined {
  const name = letters(typed);
  if (typed.length > maxLength || name === '') return undefined;
  const meaningful = letters(typed.slice(sharedPrefix(`${typed}_`, candidates).length));
  let best: string | undefined;
  let bestDistance = mostEdits(meaningful.length) + 1;
  for (const candidate of candidates) {
    const distance = distanceTo(candidate, name, meaningful.length > 2, bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }

  return best;
}

// Names are short. A longer one is not a slip of the keyboard, and comparing it would take
// quadratic time.
const maxLength = 80;

/**
 * One edit for each three letters, at most three. A name of one letter is never mistyped, only
 * wrong.
 */
const mostEdits = (length: number): number =>
  length < 2 ? 0 : Math.min(3, Math.max(1, Math.floor(length / 3)));

const letters = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

const separators = /[_.-]+/;

/**
 * How many edits lead from the name to the candidate. The start or a word of it counts as half an
 * edit.
 */
function distanceTo(candidate: string, name: string, mayBePart: boolean, most: number): number {
  const other = letters(candidate);
  if (name === other) return 0;
  if (mayBePart) {
    if (other.startsWith(name) || candidate.toLowerCase().split(separators).includes(name))
      return 0.5;
  }

  return Math.abs(other.length - name.length) < most ? editDistance(name, other) : most;
}

/**
 * The longest start, up to a separator, that the name has in common with two candidates or more.
 */
function sharedPrefix(name: string, candidates: readonly string[]): string {
  const lower = name.toLowerCase();
  for (let end = lower.length; end > 0; end--) {
    if (!separators.test(lower[end - 1] as string)) continue;
    const prefix = lower.slice(0, end);
    if (candidates.filter((candidate) => candidate.toLowerCase().startsWith(prefix)).length > 1)
      return prefix;
  }

  return '';
}

/**
 * The number of letters to insert, delete, replace, or swap with their neighbour (optimal string
 * alignment).
 */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (last[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min((last[j] as number) + 1, (row[j - 1] as number) + 1, replaced);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, (beforeLast[j - 2] as number) + 1);
      }
      row.push(least);
    }
    beforeLast = last;
    last = row;
  }

  return last[b.length] as number;
}
