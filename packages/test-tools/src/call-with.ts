import { type Call, fields } from '@call-attribution/core';

/**
 * A finished call with a Google click, and null in all fields that are not named here; `changes`
 * are what a test needs.
 */
export function callWith(changes: Partial<Record<string, unknown>> = {}): Call {
  return {
    ...Object.fromEntries(fields.map(({ name }) => [name, null])),
    sid: '1000000001',
    acct_id: '101',
    channel: 'Tracker',
    ani: '2025550123',
    dnis: '8005550100',
    date_added: '2026-11-18 14:03:00',
    talk_start: '2026-11-18 14:03:30.0',
    talk_end: '2026-11-18 14:09:30.5',
    talk_minutes: '6.0',
    displayed_timestamp: '2026-11-18 13:50:00',
    last_touch_timestamp: '2026-11-18 14:00:00',
    ppc_status: 'Processed',
    ppc_gclid: 'Cj0KCQ_click-1',
    ppc_campaign: 'Brand',
    phone_label: 'Sales line',
    first_touch: 'https://shop.example/?gclid=Cj0KCQ_click-1',
    last_touch: 'https://shop.example/contact',
    url_tag: '',
    landing_page: '/',
    conversion_page: '/contact',
    ...changes,
  } as Call;
}

const ids: Readonly<Record<string, string>> = {
  gclid: 'Cj0KCQ_click-1',
  msclkid: 'f894f652ea334e739002f7167ab8f8e3',
  k_clickid: 'kc-77_a',
  mkwid: 's8Hx2k',
  pcrid: '5551234',
};

/**
 * The address of a visit that has an id in each of the parameters, such as `clickIdNames` of
 * questions: a click of which every tool finds its own id. Where none is given and none is known
 * above, it is one of the call alone.
 */
export function taggedUrl(
  names: readonly string[],
  sid = '1000000001',
  given: Readonly<Record<string, string>> = {},
): string {
  const tags = names.map((name) => `${name}=${given[name] ?? ids[name] ?? `${name}-of-${sid}`}`);
  return `https://shop.example/?${tags.join('&')}`;
}
