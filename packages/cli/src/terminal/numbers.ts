import { formatCount as count, formatCounted as plural } from '@call-attribution/core/errors';

export { count, plural };

/** `main, plumbing or vet`. */
export const oneOf = (names: readonly string[]): string =>
  new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(names);

/** Bytes as `900 B`, `1.5 kB` or `12.3 MB`. */
export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let size = value;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit++;
  }

  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}

/** A duration as `0.4 s`, `42 s`, `3 min 7 s` or `1 h 2 min`. */
export function duration(milliseconds: number): string {
  return milliseconds < 9_950
    ? `${(Math.max(0, milliseconds) / 1000).toFixed(1)} s`
    : span(milliseconds);
}

/** A long duration in its two largest units: `42 s`, `14 min`, `13 h 42 min`, `3 d 4 h`. */
export function span(milliseconds: number): string {
  const seconds = Math.round(Math.max(0, milliseconds) / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60)
    return seconds < 600 && seconds % 60 > 0 ? twoUnits(seconds, 60, 'min', 's') : `${minutes} min`;
  return minutes < 48 * 60
    ? twoUnits(minutes, 60, 'h', 'min')
    : twoUnits(Math.round(minutes / 60), 24, 'd', 'h');
}

function twoUnits(value: number, per: number, large: string, small: string): string {
  const rest = value % per;
  return `${count(Math.floor(value / per))} ${large}${rest > 0 ? ` ${rest} ${small}` : ''}`;
}
