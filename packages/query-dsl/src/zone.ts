/** Where a JS `Date` is to be read: an IANA name such as `America/New_York`, or `UTC`. */
export interface InZone {
  readonly timeZone: string;
}

/** The wall-clock text `YYYY-MM-DD HH:MM:SS` of an instant in a time zone. Parts of a second are dropped. */
export function dateText(date: Date, zone: InZone | undefined): string {
  if (zone?.timeZone === undefined) {
    throw new TypeError(
      'A Date needs a time zone: pass { timeZone: ... } with it, or give the text of the date.',
    );
  }
  if (Number.isNaN(date.getTime())) throw new TypeError('This Date is not a valid time.');
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: zone.timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  }).formatToParts(date);
  const part = (type: string): string => parts.find((found) => found.type === type)?.value ?? '';
  return `${part('year').padStart(4, '0')}-${part('month')}-${part('day')} ${part('hour')}:${part('minute')}:${part('second')}`;
}
