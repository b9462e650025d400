// The largest value of month, day, hour, minute and second, at the place where each stands in a date.
const most = [0, 0, 0, 0, 0, 12, 0, 0, 31, 0, 0, 23, 0, 0, 59, 0, 0, 59];

/** What is wrong with a date `YYYY-MM-DD HH:MM:SS`: where, what is expected there, and why. Undefined when it exists. */
export function wrongUnit(
  date: string,
): readonly [start: number, expected: string, message?: string | undefined] | undefined {
  for (let at = 5; at < 18; at += 3) {
    const value = date.charCodeAt(at) * 10 + date.charCodeAt(at + 1) - 528;
    let top = most[at] as number;
    // The calendar repeats after 400 years, and Date takes years below 100 for 19xx.
    if (at === 8 && value > 28)
      top = new Date(Date.UTC(+date.slice(0, 4) + 400, +date.slice(5, 7), 0)).getUTCDate();
    if (value > top || (at < 9 && value < 1)) {
      const month = new Date(`${date.slice(0, 7)}-15`).toLocaleString('en', {
        month: 'long',
        year: 'numeric',
      });
      return [at, `${+(at < 9)} to ${top}`, at === 8 ? `${month} has ${top} days.` : undefined];
    }
  }
  return undefined;
}
