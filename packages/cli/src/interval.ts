import { parseDuration } from '@call-attribution/core/time';
import type { Args } from './args.ts';
import { UsageError } from './errors.ts';

/** The value of an option that is a duration, in milliseconds: more than 0, or at least `min`. */
export function interval(
  args: Args,
  name: string,
  { min = 1 }: { readonly min?: number } = {},
): number | null {
  const text = args.text(name);
  if (text === null) return null;
  const length = parseDuration(text);
  if (length >= min) return length;
  throw new UsageError(
    `--${name} must be a duration such as 90s, 10m, 1h or 7d, not ${JSON.stringify(text)}`,
  );
}
