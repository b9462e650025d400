// Times without a zone, as the API writes them, counted in seconds from 1970-01-01 00:00:00 of the same wall clock.

const two = Array.from({ length: 100 }, (_, i) => String(i).padStart(2, '0'));
const form = /^(\d{4})-(\d{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2})$/;

/** Seconds in a day. */
export const day = 86_400;

// The days of a few years, each written once: neighbouring calls name a handful of days over and over.
const dayTexts = new Map<number, string>();
const keptDays = 5000;

/** `YYYY-MM-DD HH:MM:SS` of a time; tenths of a second are left out. */
export function toText(seconds: number): string {
  const days = Math.floor(seconds / day);
  const rest = Math.floor(seconds - days * day);
  return `${dayText(days)}${two[Math.floor(rest / 3600)]}:${two[Math.floor(rest / 60) % 60]}:${two[rest % 60]}`;
}

function dayText(days: number): string {
  let text = dayTexts.get(days);
  if (text === undefined) {
    text = `${new Date(days * day * 1000).toISOString().slice(0, 10)} `;
    if (dayTexts.size >= keptDays) dayTexts.clear();
    dayTexts.set(days, text);
  }
  return text;
}

/** `YYYY-MM-DD HH:MM:SS.S` of a time given in tenths of a second. */
export function toTenthsText(tenths: number): string {
  const seconds = Math.floor(tenths / 10);
  return `${toText(seconds)}.${tenths - seconds * 10}`;
}

/** The time that a text of the form `YYYY-MM-DD HH:MM:SS` names; throws a RangeError for anything else. */
export function fromText(text: string): number {
  const parts = form.exec(text);
  const iso = `${text.replace(' ', 'T')}.000Z`;
  const time = parts ? Date.parse(iso) : Number.NaN;
  if (Number.isNaN(time) || new Date(time).toISOString() !== iso) {
    throw new RangeError(
      `"${text}" is not a time: expected YYYY-MM-DD HH:MM:SS, for example 2026-11-01 00:00:00`,
    );
  }
  return time / 1000;
}
