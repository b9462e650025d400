import type { Call } from '@call-attribution/core';
import { formatNaive, formatNaiveTenths } from '@call-attribution/core/time';
import type { GeneratedAccount } from './account.ts';
import { type AdsCourse, drawCourse, noCourse, statusAt } from './ads-status.ts';
import type { AdGroup, Campaign, Keyword } from './campaigns.ts';
import { drawTags } from './clicks.ts';
import type { Person } from './people.ts';
import { pad, Random } from './random.ts';
import { day } from './rhythm.ts';
import { makeVisit, oddText, type Visit } from './visit.ts';

/** A generated call, with the changes its ad data will go through. */
export interface GeneratedCall {
  readonly call: Call;
  /** When the call was made, in seconds of wall time. */
  readonly time: number;
  readonly course: AdsCourse;
}

const networks = ['g', 's', 'd'] as const;
const positions = ['', '1t1', '1t2', '1s3', 'none'] as const;

/**
 * Returns a function that makes call number `i`, which took place at `time`, as it is at the time
 * `asOf`.
 */
export function callMaker(account: GeneratedAccount, people: (caller: number) => Person) {
  const random = new Random(0);
  const clicks = new Random(0);
  return (i: number, time: number, asOf: number): GeneratedCall => {
    random.reseed(account.seed + Math.imul(i + 1, 0x9e3779b1));
    const person = people(callerOf(random, i));
    const extension = random.chance(0.1);
    const campaign = random.pick(account.campaigns, 1);
    const group = random.pick(campaign.groups, 1);
    const keyword = random.pick(group.keywords, 1);
    const ad = { campaign, group, keyword };
    const tagged = (gclid: string | null) =>
      drawTags(clicks.reseed(account.seed + Math.imul(i + 1, 0x85ebca77)), gclid, person, ad);
    const visit = extension ? null : makeVisit(random, account.trade, person, ad, tagged);
    const course =
      extension || visit?.click.isTagged ? drawCourse(random, person.mobile) : noCourse;
    const draft = { account, person, ad, visit, time, status: statusAt(course, asOf - time) };
    return { call: write(random, i, draft), time, course };
  };
}

// Six in ten calls are from a new caller, the others from one who has called before, more likely
// long ago than lately.
function callerOf(random: Random, i: number): number {
  const met = Math.floor(i * 0.62);
  return random.chance(0.62) ? met : Math.floor(random.next() * random.next() * met);
}

// Ids increase with time, but not one by one, so that their order cannot be mistaken for the order
// of the calls.
function sidOf(account: GeneratedAccount, i: number): string {
  const block = i & ~15;
  const turned = (Math.imul(i & 15, 5) + (Math.imul(block, 0x9e3779b1) >>> 28)) & 15;
  return account.id + pad(1_000_000_000 + (block + turned) * 7, 10);
}

interface Draft {
  readonly account: GeneratedAccount;
  readonly person: Person;
  readonly ad: { readonly campaign: Campaign; readonly group: AdGroup; readonly keyword: Keyword };
  readonly visit: Visit | null;
  readonly time: number;
  readonly status: ReturnType<typeof statusAt>;
}

// The order of the draws is part of the calls: another order makes other calls of the same seed.
function drawDetails(random: Random, i: number, { account, person, ad, visit, time }: Draft) {
  const talk = drawTalk(random);
  const smart = 1 + Math.floor(random.next() * random.next() * 18);
  const connected = time * 10 + smart * 60 + random.below(10);
  const seen = visit ? time - 90 - drawDelay(random) : time;
  const again =
    visit && visit.last !== visit.first
      ? Math.max(seen + 30, time - 20 - random.below(900))
      : seen + 1;
  const { number, label } = random.pick(account.numbers, 1);
  const sid = sidOf(account, i);
  const custom = random.next();
  const customId = visit && custom < 0.12 ? `cust-${random.below(1e6)}` : null;
  let customValue = custom < 0.08 ? 'vip' : null;
  if (custom < 0.004) customValue = oddText(random);
  const ppcAd = random.pick(ad.group.adIds);
  const poolId = random.pick(account.poolIds);
  const recorded = talk > 0 && random.chance(0.7);
  const location = random.chance(0.3) ? 1 + random.below(40) : null;
  const rank = visit ? String(1 + Math.floor(random.next() * random.next() * 5)) : '1';
  const network = random.pick(networks, 1);
  const position = random.pick(positions);
  const once = random.digits(16);
  return {
    i,
    sid,
    talk,
    smart,
    connected,
    seen,
    again,
    number,
    label,
    customId,
    customValue,
    ppcAd,
    poolId,
    recorded,
    location,
    rank,
    network,
    position,
    once,
    isKnown: account.trade.lookup && person.isListed,
    isPaid: visit?.source === 'paid',
  };
}

type Details = ReturnType<typeof drawDetails>;

function write(random: Random, i: number, draft: Draft): Call {
  const details = drawDetails(random, i, draft);
  // Spreading as many fields takes seventy times as long.
  return Object.assign(
    writeCall(draft, details),
    writeAds(draft, details),
    writeClick(draft, details),
  );
}

// The call, who made it, and how the caller came to the site.
function writeCall({ account, person, ad, visit, time }: Draft, details: Details) {
  const { i, sid, talk, smart, connected, number, label, isKnown, recorded, rank } = details;
  const { seen, again, poolId, location, isPaid } = details;
  return {
    sid,
    acct_id: account.id,
    date_added: timeText(time),
    smart_minutes: tenths(smart),
    talk_minutes: tenths(talk),
    talk_start: formatNaiveTenths(connected * 100),
    talk_end: formatNaiveTenths((connected + talk * 60) * 100),
    call_duration: String(Math.ceil((talk + smart) / 10)),
    dnis: number,
    ani: person.number,
    first_name: isKnown ? person.firstName : null,
    last_name: isKnown ? person.lastName : null,
    street_address: isKnown ? person.street : null,
    city: isKnown ? person.place.city : null,
    state: isKnown ? person.place.state : null,
    zipcode: isKnown ? person.place.zip : null,
    phone_number: i % 37 === 0 ? number : null,
    phone_label: label,
    recording: recorded ? `https://recordings.example/play/${sid}` : null,
    call_logging_id: null,
    super_id: visit ? person.superId : null,
    pid: person.pid,
    rank,
    channel: visit ? 'Tracker' : 'Call Extension',
    activity_type_id: visit ? visit.activity : 1,
    activity_keyword: visit ? visit.pattern : null,
    incoming_keyword: isPaid ? ad.keyword.text : null,
    search_term: visit ? visit.searchTerm : null,
    url_tag: visit ? visit.urlTag : '',
    first_touch: visit ? visit.first.url : null,
    first_touch_title: visit ? visit.first.title : null,
    first_touch_domain: visit ? account.trade.domain : null,
    landing_page: visit ? visit.first.path : null,
    last_touch: visit ? visit.last.url : null,
    last_touch_title: visit ? visit.last.title : null,
    last_touch_domain: visit ? account.trade.domain : null,
    last_touch_timestamp: visit ? timeText(again) : null,
    conversion_page: visit ? visit.last.path : null,
    referrer: visit ? visit.referrer : '',
    displayed_timestamp: timeText(visit ? seen + 2 : time),
    pool_id: poolId,
    domain_set_id: account.domainSetId,
    location_id: location,
  };
}

// What the advertising platform says about the call.
function writeAds({ account, ad, visit, status }: Draft, { ppcAd }: Details) {
  const isProcessed = status === 'Processed';
  return {
    ppc_status: status,
    ppc_account_id: isProcessed ? account.adsAccountId : null,
    ppc_campaign_id: isProcessed ? ad.campaign.id : null,
    ppc_campaign: isProcessed ? ad.campaign.name : null,
    ppc_adgroup_id: isProcessed ? ad.group.id : null,
    ppc_adgroup: isProcessed ? ad.group.name : null,
    ppc_keyword_id: isProcessed ? ad.keyword.id : null,
    ppc_keywords: isProcessed ? ad.keyword.text : null,
    ppc_match_type: isProcessed && visit ? ad.keyword.match : null,
    ppc_ad_id: isProcessed ? ppcAd : null,
    ppc_gclid: visit ? visit.click.gclid : null,
  };
}

// The tags in the URL of the ad, and the device.
function writeClick({ account, person, ad, visit }: Draft, details: Details) {
  const { i, ppcAd, isPaid, network, position, once, customId, customValue } = details;
  const device = person.mobile ? 'm' : 'c';
  return {
    vt_keyword: isPaid ? ad.keyword.text : null,
    vt_matchtype: isPaid ? ad.keyword.match.charAt(0).toLowerCase() : null,
    vt_network: isPaid ? network : null,
    vt_device: isPaid ? device : null,
    vt_devicemodel: isPaid ? person.model : null,
    vt_creative: isPaid ? ppcAd : null,
    vt_placement: isPaid && network === 'd' ? 'news.example.org' : null,
    vt_target: isPaid && network === 'd' ? account.trade.name : null,
    vt_param1: isPaid && i % 11 === 0 ? 'spring' : null,
    vt_param2: null,
    vt_random: isPaid ? once : null,
    vt_aceid: null,
    vt_adposition: isPaid ? position : null,
    vt_adtype: null,
    vt_ads_producttargetid: isPaid && i % 29 === 0 ? once.slice(0, 9) : null,
    ip_address: visit ? person.address : '',
    os: visit ? person.os : null,
    os_version: visit ? person.osVersion : null,
    browser: visit ? person.browser : null,
    browser_version: visit ? person.browserVersion : null,
    custom_id: customId,
    custom_value: customValue,
  };
}

const timeText = (seconds: number): string => formatNaive(seconds * 1000);

function tenths(value: number): string {
  return `${Math.floor(value / 10)}.${value % 10}`;
}

/**
 * Draws how many seconds pass between the visit and the call: minutes for most, up to 30 days for
 * some.
 */
function drawDelay(random: Random): number {
  const at = random.next();
  const part = random.next();
  if (at < 0.62) return Math.floor(part * part * 1200);
  if (at < 0.84) return Math.floor(1200 + part * part * day);
  return Math.floor(day + part * part * 29 * day);
}

// Quantiles of the talk time in tenths of a minute: most calls are short, a few are very long.
const talkTimes: readonly (readonly [share: number, tenths: number])[] = [
  [0.1, 4],
  [0.25, 10],
  [0.5, 24],
  [0.75, 52],
  [0.9, 110],
  [0.97, 240],
  [0.995, 600],
  [1, 1800],
];

/** Draws the talk time in tenths of a minute; 0 for the one call in seven that is not answered. */
function drawTalk(random: Random): number {
  if (random.chance(0.14)) return 0;
  const at = random.next();
  let low = 0;
  let from = 1;
  for (const [share, tenths] of talkTimes) {
    if (at < share) return from + Math.floor(((at - low) / (share - low)) * (tenths - from));
    low = share;
    from = tenths;
  }

  return from;
}
