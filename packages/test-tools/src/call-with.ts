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
