/** A whole number with separators between thousands. */
export function count(value: number): string {
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** A count with its noun: `1 call`, `1,234 calls`. */
export function counted(value: number, one: string, many: string): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** What has to be said wherever times are shown. The API names no zone, and nothing here guesses one. */
export function zoneNote(timeZone: string | undefined): string {
  return timeZone === undefined
    ? 'Times are as sent; the API names no zone.'
    : `Times are as sent; by the operator they are ${timeZone}.`;
}

/** What has to be said where minutes are shown. */
export const minutesNote = 'talk_minutes: minutes, in tenths.';
