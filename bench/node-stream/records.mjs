// Generated wire records of about 2.8 kB, two in five with text outside ASCII, as bytes with a
// place for the two things that differ from record to record: `sid` and `date_added`.
import { wireCalls } from '../core/wire-calls.mjs';

const variants = 1000;
const sidPlace = 'S0000000000000';
const datePlace = '2024-01-01 00:00:00';
export const firstSecond = Date.UTC(2023, 0, 1) / 1000;

/** Seconds between two records. */
export const step = 20;

const ascii = (record) => JSON.parse(JSON.stringify(record).replace(/[^\x20-\x7e]/g, 'e'));

const templates = wireCalls(variants, 'v3', 11).map((call, i) => {
  const long = `https://www.example.com/landing/${'section/'.repeat(12)}?utm_source=search&padding=${'p'.repeat(330)}&utm_medium=cpc&utm_term=${call.url_tag}&gclid=EAIaIQ${'x'.repeat(60)}${i}`;
  const record = {
    ...call,
    sid: sidPlace,
    date_added: datePlace,
    first_touch: long,
    last_touch: `${long}&step=2`,
    url_tag: `${call.url_tag}&match=exact&network=g&device=m&adposition=1t1`,
    phone_label: i % 5 < 2 ? 'Main line – Böblingen' : 'Main line, Springfield',
  };
  return Buffer.from(`${JSON.stringify(i % 5 < 2 ? record : ascii(record))},`);
});
const sidAt = templates.map((bytes) => bytes.indexOf(sidPlace));
const dateAt = templates.map(
  (bytes) => bytes.indexOf(`"date_added":"${datePlace}`) + '"date_added":"'.length,
);

/** Records `first` to `first + count - 1` as the body of a page. */
export function pageOf(first, count) {
  if (count === 0) return Buffer.from('[]');
  let size = 1;
  for (let i = first; i < first + count; i += 1) size += templates[i % variants].length;
  const page = Buffer.allocUnsafe(size);
  page[0] = 0x5b;
  let at = 1;
  for (let i = first; i < first + count; i += 1) {
    const which = i % variants;
    templates[which].copy(page, at);
    page.latin1Write(`S${String(i).padStart(13, '0')}`, at + sidAt[which]);
    page.latin1Write(timeOf(i), at + dateAt[which]);
    at += templates[which].length;
  }

  page[size - 1] = 0x5d;
  return page;
}

function timeOf(i) {
  return new Date((firstSecond + i * step) * 1000).toISOString().slice(0, 19).replace('T', ' ');
}

/** How many records lie before a time, of `n`. */
export function countBefore(time, n, isInclusive) {
  const seconds = Date.parse(`${time.replace(' ', 'T')}Z`) / 1000 - firstSecond;
  const exact = seconds / step;
  const count = isInclusive ? Math.floor(exact) + 1 : Math.ceil(exact);
  return Math.min(n, Math.max(0, count));
}

export const bytesPerRecord = templates.reduce((sum, bytes) => sum + bytes.length, 0) / variants;
