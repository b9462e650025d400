// Pages of one thousand records each. The records of a page are those of the page before with a
// later time, so that making them costs nothing beside what is measured.
const rows = 1000;

/** Pages of `n` records, an hour from page to page. */
export function pagesOf(n) {
  const records = Array.from({ length: rows }, (_, i) => ({
    sid: `S${i}`,
    date_added: '',
    ani: `55555${String(i).padStart(5, '0')}`,
    talk_minutes: `${i % 9}.${i % 10}`,
    ppc_campaign: `campaign ${(i * 7) % 25}`,
    channel: i % 3 === 0 ? 'web' : 'print',
  }));

  const page = (i) => {
    const date_added = new Date(Date.UTC(2026, 0, 1) + i * 3_600_000)
      .toISOString()
      .slice(0, 19)
      .replace('T', ' ');
    for (const record of records) record.date_added = date_added;
    return records;
  };

  return {
    *[Symbol.iterator]() {
      for (let i = 0; i < n / rows; i += 1) yield page(i);
    },
    of: null,
    calls: null,
    hasTime: true,
    startsAt: null,
    facts: null,
    signal: null,
    verdict: Promise.resolve(null),
    async *pages() {
      for (let i = 0; i < n / rows; i += 1) {
        const items = page(i);
        yield { items, range: { from: null, to: items[0].date_added }, checkpoint: null };
      }
    },
  };
}

/** The records of pages, one by one. */
export function* readings(pages) {
  for (const page of pages) for (const record of page) yield record;
}
