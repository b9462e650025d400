const shape = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,3})?$/;

/**
 * Milliseconds on a clock without a zone: good for differences and for cutting time into windows, never for an
 * instant. NaN for anything but a time that exists, as `YYYY-MM-DD HH:MM:SS` with an optional fraction.
 */
export function naiveMillis(text: unknown): number {
  if (typeof text !== 'string' || !shape.test(text)) return Number.NaN;
  const millis = Date.parse(`${text.slice(0, 10)}T${text.slice(11)}Z`);
  // The parser lets the 31st of a short month and hour 24 run over into the next day.
  return new Date(millis).getUTCDate() === Number(text.slice(8, 10)) ? millis : Number.NaN;
}

/** The naive time text of such milliseconds. */
export function naiveText(millis: number): string {
  return new Date(millis).toISOString().slice(0, 19).replace('T', ' ');
}

const units = { ms: 1, s: 1e3, m: 6e4, h: 36e5, d: 864e5 };

/** A length of time: milliseconds, or a number with a unit such as `30s`, `15m`, `1h`, `7d`. */
export type Duration = number | `${number}${keyof typeof units}`;

/** Milliseconds of a duration; `name` is the option it came from, for the error text. */
export function durationMillis(value: Duration, name: string): number {
  const unit = /^\d+(?:\.\d+)?(ms|s|m|h|d)$/.exec(String(value))?.[1] as keyof typeof units | undefined;
  const millis = unit === undefined ? value : Number.parseFloat(String(value)) * units[unit];
  if (typeof millis === 'number' && Number.isFinite(millis) && millis >= 0) return millis;
  throw new RangeError(
    `${name} is ${JSON.stringify(value)}; expected milliseconds or a text such as '30s', '15m', '1h' or '7d'`,
  );
}
