// Index is the place of the unit divided by three: month, day, hour, minute and second stand at 5, 8, 11, 14 and 17.
const most = [0, 12, 31, 23, 59, 59];

/** What is wrong with a date `YYYY-MM-DD HH:MM:SS`: where, what is expected there, and why. Undefined when it exists. */
export function wrongUnit(
  date: string,
): readonly [start: number, expected: string, message?: string | undefined] | undefined {
  for (let at = 5; at < 18; at += 3) {
    const value = date.charCodeAt(at) * 10 + date.charCodeAt(at + 1) - 528;
    let top = most[(at - 2) / 3] as number;
    // The calendar repeats after 400 years, and Date takes years below 100 for 19xx.
    if (at === 8 && value > 28)
      top = new Date(Date.UTC(+date.slice(0, 4) + 400, +date.slice(5, 7), 0)).getUTCDate();
    if (value > top || (at < 9 && value < 1)) {
      const month = new Date(`${date.slice(0, 7)}-15`).toLocaleString('en', {
        month: 'long',
        year: 'numeric',
      });
      return [at, `0${+(at < 9)} to ${top}`, at === 8 ? `${month} has ${top} days.` : undefined];
    }
  }
  return undefined;
}
