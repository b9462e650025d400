import { fields } from '../record/fields.ts';
import type { Call } from '../record/generated/calls.ts';
import { formatNaive } from '../time/naive.ts';

const firstNames = ['Ana', 'Björn', 'Chidi', 'Dana', '美咲', 'O’Neil', 'Zoë'] as const;
const keywords = [
  'roof repair',
  'emergency plumber',
  'dentist "near me"',
  'déménagement',
  'a,b },{ c',
] as const;
const statuses = [
  'Processed',
  'No Match',
  'Not Processed',
  'N/A',
  'Desktop',
  'Waiting For Keyword',
] as const;

/** A small generator: the same seed gives the same numbers on every machine. */
function random(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 12), 0x297a2d39);
    mixed ^= mixed >>> 15;
    return (mixed >>> 0) / 4294967296;
  };
}

/**
 * Records for tests: `n` calls in order of `date_added`, a few minutes apart, with a value for
 * every documented field. They are the same for the same seed, and odd on purpose (quotes, accents,
 * brackets in strings); phone numbers and addresses are from ranges reserved for fiction. For
 * plausible calls use `@call-attribution/sandbox`.
 *
 * @example
 * const server = await fakeApi({ calls: fixtureCalls(100) }).listen();
 */
export function fixtureCalls(n: number, seed = 1): Call[] {
  const dice = diceOf(seed);
  let clock = Date.UTC(2024, 0, 1, 8);
  return Array.from({ length: n }, (_, i) => {
    clock += 1000 * Math.floor(30 + dice.next() * 600);
    const talk = Math.floor(dice.next() * 200);
    const keyword = dice.pick(keywords);
    const isExtension = dice.next() < 0.15;
    return {
      ...withoutValues,
      sid: `S${seed}-${String(i + 1).padStart(7, '0')}`,
      acct_id: '100001',
      date_added: formatNaive(clock),
      ...conversation(dice, { clock, talk, i }),
      ...visit(dice, { clock, keyword, isExtension }),
      ...advertisement(dice, { keyword, i }),
      ...device(dice),
    };
  });
}

/** What a field has that the lines below do not fill. */
const withoutValues = Object.fromEntries(
  fields.filter(({ deprecated }) => !deprecated).map(({ name }) => [name, null]),
);

interface Dice {
  next(): number;
  pick<T>(list: readonly [T, ...T[]]): T;
  maybe<T>(value: T, share?: number): T | null;
}

function diceOf(seed: number): Dice {
  const next = random(seed);
  return {
    next,
    pick: (list) => list[Math.floor(next() * list.length)] ?? list[0],
    maybe: (value, share = 0.6) => (next() < share ? value : null),
  };
}

function conversation(
  { next, pick, maybe }: Dice,
  { clock, talk, i }: { clock: number; talk: number; i: number },
) {
  const started = clock + 12_000;
  const number = (low: number) => `555555${String(low + Math.floor(next() * 50)).padStart(4, '0')}`;
  return {
    smart_minutes: (Math.floor(next() * 20) / 10).toFixed(1),
    talk_minutes: (talk / 10).toFixed(1),
    talk_start: `${formatNaive(started)}.${Math.floor(next() * 10)}`,
    talk_end: `${formatNaive(started + talk * 6000)}.${Math.floor(next() * 10)}`,
    call_duration: String(Math.ceil(talk / 10)),
    dnis: number(150),
    ani: number(100),
    first_name: maybe(pick(firstNames), 0.4),
    last_name: maybe('Example', 0.4),
    street_address: maybe('1 Example Street', 0.3),
    city: maybe('Springfield', 0.5),
    state: maybe('IL', 0.5),
    zipcode: maybe('00000', 0.5),
    phone_label: maybe('Main line'),
    recording: maybe(`https://recordings.example.com/${i + 1}`, 0.3),
  };
}

function visit(
  { next, pick, maybe }: Dice,
  { clock, keyword, isExtension }: { clock: number; keyword: string; isExtension: boolean },
) {
  return {
    pid: `P${Math.floor(next() * 1e6)}`,
    rank: String(1 + Math.floor(next() * 5)),
    channel: isExtension ? 'Call Extension' : 'Tracker',
    activity_type_id: 1 + Math.floor(next() * 8),
    activity_keyword: maybe('utm_campaign=*'),
    incoming_keyword: maybe('utm_campaign=spring'),
    search_term: maybe(keyword),
    url_tag: `utm_term=${encodeURIComponent(keyword)}`,
    first_touch: maybe(`https://www.example.com/landing?utm_term=${encodeURIComponent(keyword)}`),
    first_touch_title: maybe('Welcome – “Example”'),
    first_touch_domain: maybe('www.example.com'),
    landing_page: maybe('/landing'),
    last_touch: maybe('https://www.example.com/contact'),
    last_touch_title: maybe('Contact'),
    last_touch_domain: maybe('www.example.com'),
    last_touch_timestamp: maybe(formatNaive(clock - 60_000)),
    conversion_page: maybe('/contact'),
    referrer: pick(['search.example.net', '', 'news.example.org']),
    displayed_timestamp: formatNaive(clock - 120_000),
    pool_id: 1 + Math.floor(next() * 9),
    domain_set_id: 1 + Math.floor(next() * 3),
    location_id: maybe(1 + Math.floor(next() * 50), 0.5),
  };
}

function advertisement({ pick, maybe }: Dice, { keyword, i }: { keyword: string; i: number }) {
  return {
    ppc_status: pick(statuses),
    ppc_account_id: maybe('1234567890'),
    ppc_campaign_id: maybe('7001'),
    ppc_campaign: maybe('Spring'),
    ppc_adgroup_id: maybe('8001'),
    ppc_adgroup: maybe('Repairs'),
    ppc_keyword_id: maybe('9001'),
    ppc_keywords: maybe(keyword),
    ppc_match_type: maybe(pick(['Exact', 'Phrase', 'Broad'])),
    ppc_ad_id: maybe('6001'),
    ppc_gclid: maybe(`EAIaIQ${i}`),
    vt_keyword: maybe(keyword),
    vt_matchtype: maybe('e'),
    vt_network: maybe('g'),
    vt_device: maybe('m'),
    vt_devicemodel: null,
    vt_creative: maybe('6001'),
    vt_placement: null,
    vt_target: null,
    vt_param1: null,
    vt_param2: null,
    vt_random: maybe('1618'),
    vt_aceid: null,
    vt_adposition: maybe('1t1'),
    vt_adtype: null,
    vt_ads_producttargetid: null,
  };
}

function device({ next, maybe }: Dice) {
  return {
    ip_address: `192.0.2.${1 + Math.floor(next() * 254)}`,
    os: maybe('Android'),
    os_version: maybe('14'),
    browser: maybe('Chrome'),
    browser_version: maybe('120.0'),
    custom_id: maybe('c-17', 0.2),
    custom_value: maybe('19.90', 0.2),
  };
}
