import type { Random } from './random.ts';

// Quantiles of the talk time in tenths of a minute: most calls are short, a few are very long.
const shares = [0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97, 0.995, 1];
const tenths = [1, 4, 10, 24, 52, 110, 240, 600, 1800];

/** Draws how long a call is talked, in tenths of a minute; 0 for the one call in seven that nobody answers. */
export function drawTalk(random: Random): number {
  if (random.chance(0.14)) return 0;
  const at = random.next();
  let i = 0;
  while (at >= (shares[i + 1] as number)) i++;
  const low = shares[i] as number;
  const from = tenths[i] as number;
  const part = (at - low) / ((shares[i + 1] as number) - low);
  return from + Math.floor(part * ((tenths[i + 1] as number) - from));
}
