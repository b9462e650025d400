import { parseDuration, parseTime } from '@call-attribution/core/time';
import type { Args } from '../../args.ts';
import { UsageError } from '../../errors.ts';

/**
 * The time of --changed-since, in milliseconds since 1970; null when it was not given. It is in
 * UTC, as a copy notes its changes.
 */
export function changedSinceOf(args: Args, now: number): number | null {
  const text = args.text('changed-since');
  if (text === null) return null;
  const ago = parseDuration(text);
  const millis = Number.isNaN(ago) ? parseTime(text.replace(/Z$/, ''))?.millis : now - ago;
  if (millis !== undefined) return millis;
  throw new UsageError(
    `--changed-since is ${JSON.stringify(text)}, which is not a time that exists`,
    ['write a time in UTC, or a duration: 2026-11-27, "2026-11-27 10:30:00.123", 1d'],
  );
}

/** Refuses --changed-since where no copy is asked. */
export function refuseChangedSince(args: Args): void {
  if (!args.flag('changed-since')) return;
  throw new UsageError(
    '--changed-since needs a copy: the API does not say when what it has of a call changed',
    ['calls sync --store sqlite:calls.db fills one'],
  );
}
