import type { Call } from '@call-attribution/core';

/** A call with what a test cares about; the rest is as dull as can be. */
export function callOf(part: Partial<Call> & { sid: string }): Call {
  return {
    acct_id: '100001',
    date_added: '2024-01-01 08:00:00',
    smart_minutes: '0.1',
    talk_minutes: '1.5',
    talk_start: '2024-01-01 08:00:12.5',
    talk_end: '2024-01-01 08:01:42.5',
    dnis: '5555550150',
    ani: '5555550100',
    first_name: null,
    last_name: null,
    street_address: null,
    city: null,
    state: null,
    zipcode: null,
    phone_label: null,
    recording: null,
    rank: '1',
    channel: 'Tracker',
    activity_type_id: 1,
    activity_keyword: null,
    incoming_keyword: null,
    search_term: null,
    url_tag: '',
    first_touch: null,
    last_touch: null,
    last_touch_timestamp: null,
    referrer: '',
    ip_address: '192.0.2.1',
    displayed_timestamp: '2024-01-01 07:59:00',
    pool_id: 1,
    domain_set_id: 1,
    ...part,
  } as Call;
}

/** Everything an iterable gives. */
export async function all<T>(source: AsyncIterable<T> | Iterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

/** The bytes an iterable gives, as text. */
export async function textOf(source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<string> {
  return Buffer.concat(await all(source)).toString('utf8');
}
