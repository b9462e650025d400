// Questions whose bare number misleads, and beside each one where nothing misleads: what has to be
// said of the one, and must not be said of the other, in the terminal and by assistants.

/** A question, as the tools of assistants have it; the terminal's options follow from it. */
export interface Asked {
  readonly where?: string;
  readonly period?: string;
  readonly from?: string;
  readonly to?: string;
  readonly group_by?: readonly string[];
  readonly measures?: readonly string[];
  readonly compare?: string;
  readonly having?: string;
  readonly order?: string;
  readonly explain?: boolean;
}

/** Whose calls are asked. */
export type Whose = 'main' | 'stopped' | 'v2' | 'two accounts';

/** Who answers. */
export const places = ['a file copy', 'a copy in memory', 'the terminal'] as const;

/** A trap. */
export interface Trap {
  readonly ask: Asked;
  /** What the answer has to say. */
  readonly says: RegExp;
  /** What it must not say. */
  readonly never: RegExp;
  /** A question of which `says` must not be said. */
  readonly silent: Asked;
  readonly whose?: Whose;
  /** Default: all places. */
  readonly at?: readonly (typeof places)[number][];
}

const copies = ['a file copy', 'a copy in memory'] as const;
const assistants = copies;
const october = { period: '2026-10' };
const failure = /There is no|cannot be|expected/i;

/** What is left out by a negation. */
const negations: readonly Trap[] = [
  {
    ask: { ...october, where: "campaign NOT LIKE '%Brand%'" },
    says: /calls without ppc_campaign are left out, since a negation is not true of them either/,
    never: failure,
    silent: { ...october, where: "campaign NOT LIKE '%Brand%' AND campaign IS NOT NULL" },
  },
  {
    ask: { ...october, where: "state <> 'TX'" },
    says: /93 calls without state are left out/,
    never: failure,
    silent: { ...october, where: "state = 'TX'" },
  },
  {
    ask: { ...october, where: "NOT (state = 'TX')" },
    says: /\(… OR state IS NULL\) adds them/,
    never: failure,
    silent: { ...october, where: 'NOT missed' },
  },
  {
    ask: { ...october, where: "state NOT IN ('TX', 'NV')" },
    says: /93 calls without state are left out/,
    never: failure,
    silent: { ...october, where: "state NOT IN ('TX', 'NV') OR state IS NULL" },
  },
  {
    ask: { ...october, measures: ["share(state <> 'TX')"] },
    says: /93 calls without state count as no/,
    never: /are left out, since/,
    silent: { ...october, measures: ["share(state = 'TX')"] },
  },
  {
    ask: { ...october, measures: ["count(campaign <> 'Harbor Dental | Brand')"] },
    says: /calls without ppc_campaign count as no/,
    never: failure,
    silent: { ...october, measures: ["count(campaign = 'Harbor Dental | Brand')"] },
  },
];

const begins = /The first call is from 2026-09-07 08:00:00: nothing is known/;
const countsAsNew = /Calls are known from 2026-09-07 on: who called before that counts as new/;
const ends =
  /The last call is from 2026-11-10 \d\d:\d\d:00: nothing is known of the period after it/;

/** Where the data begins and ends. */
const dataEnds: readonly Trap[] = [
  {
    ask: { from: '2026-08-01', group_by: ['month'] },
    says: begins,
    never: /The last call/,
    silent: { from: '2026-10-01', group_by: ['month'] },
  },
  {
    ask: { from: '2026-07-01', measures: ['calls'] },
    says: begins,
    never: /The last call/,
    silent: { from: '2026-09-08', measures: ['calls'] },
  },
  {
    ask: { period: '2026-09' },
    says: begins,
    never: /The last call/,
    silent: october,
  },
  {
    ask: { period: '2026-09', compare: 'previous' },
    says: begins,
    never: /The last call/,
    silent: { period: '2026-11-02 to 2026-11-08', compare: 'previous' },
  },
  {
    ask: { period: '2026-10', compare: 'year' },
    says: begins,
    never: /The last call/,
    silent: { period: '2026-11-02 to 2026-11-08', compare: '2026-10-05 to 2026-10-11' },
  },
  {
    ask: { from: '2026-10-05', group_by: ['week'] },
    says: ends,
    never: /The first call/,
    silent: { from: '2026-10-05', to: '2026-11-01', group_by: ['week'] },
    whose: 'stopped',
  },
  {
    ask: { from: '2026-10-05', group_by: ['day'] },
    says: ends,
    never: /The first call/,
    silent: { from: '2026-10-05', to: '2026-11-01', group_by: ['day'] },
    whose: 'stopped',
  },
  {
    ask: { ...october, measures: ['first_time_callers'] },
    says: countsAsNew,
    never: /The last call/,
    silent: { ...october, measures: ['callers'] },
  },
  {
    ask: { from: '2026-10-01', group_by: ['caller_type'] },
    says: countsAsNew,
    never: /The last call/,
    silent: { from: '2026-10-01', group_by: ['state'] },
  },
  {
    ask: { from: '2026-11-01', where: 'caller_nth = 1' },
    says: countsAsNew,
    never: failure,
    silent: { from: '2026-11-01', where: 'talk_minutes > 1' },
  },
  {
    ask: { from: '2026-10-01', group_by: ['caller_first_campaign'] },
    says: countsAsNew,
    never: failure,
    silent: { from: '2026-10-01', group_by: ['campaign'] },
  },
];

/** Days that a condition leaves out. */
const days: readonly Trap[] = [
  {
    ask: { ...october, where: "weekday NOT IN ('Sat', 'Sun')", measures: ['per_day'] },
    says: /\b30\b/,
    never: /21\.29/,
    silent: { ...october, where: "weekday <= 'Fri' AND state = 'TX'", measures: ['calls'] },
  },
  {
    ask: { ...october, where: 'hour = 9', measures: ['per_day'] },
    says: /\b3\b/,
    never: /72/,
    silent: { ...october, where: "state = 'NV'", measures: ['per_day'] },
  },
];

const unfinished = /The period is not over: /;

/** Periods that are compared. */
const comparisons: readonly Trap[] = [
  {
    ask: { period: 'this month', compare: 'previous' },
    says: /2026-11-01 to 2026-11-26 12:00 is compared with 2026-10-01 to 2026-10-26 12:00/,
    never: /"calls_before":93\d/,
    silent: { period: 'last month', compare: 'previous' },
  },
  {
    ask: { period: 'month to date', compare: 'previous' },
    says: /is compared with 2026-10-01 to 2026-10-26 12:00/,
    never: /"calls_before":93\d/,
    silent: { period: '2026-10-01 to 2026-10-26', compare: 'previous' },
  },
  {
    ask: { period: 'this week', compare: 'previous' },
    says: /2026-11-23 to 2026-11-26 12:00 is compared with 2026-11-16 to 2026-11-19 12:00/,
    never: /"calls_before":18\d/,
    silent: { period: 'last week', compare: 'previous' },
  },
  {
    ask: { period: 'today', compare: 'previous' },
    says: /2026-11-26 to 2026-11-26 12:00 is compared with 2026-11-25 to 2026-11-25 12:00/,
    never: /"calls_before":30\b/,
    silent: { period: 'yesterday', compare: 'previous' },
  },
  {
    ask: { period: 'this quarter', compare: '2026-Q3' },
    says: unfinished,
    never: failure,
    silent: { period: '2026-10', compare: '2026-09' },
  },
  {
    ask: { from: '7d', compare: 'previous' },
    says: /Today is left out, since it is not over: 2026-11-19 to 2026-11-25 is compared with 2026-11-12 to 2026-11-18/,
    never: unfinished,
    silent: { period: 'last 7 days', compare: 'previous' },
  },
  {
    ask: { ...october, compare: 'previous', measures: ['calls'] },
    says: /The periods have 31 and 30 days: compare the change per day of calls/,
    never: unfinished,
    silent: { period: '2026-11-02 to 2026-11-08', compare: 'previous', measures: ['calls'] },
  },
  {
    ask: { period: '2026-11-01 to 2026-11-10', compare: '2026-10', measures: ['calls'] },
    says: /The periods have 10 and 31 days/,
    never: unfinished,
    silent: { period: '2026-11-01 to 2026-11-10', compare: 'previous', measures: ['calls'] },
  },
  {
    ask: { ...october, compare: 'previous', measures: ['calls'] },
    says: /calls_change_percent/,
    never: /calls_change"?:[^,}]*\d\.\d/,
    silent: { ...october, measures: ['calls'] },
  },
  {
    ask: { ...october, compare: 'previous', measures: ['missed_rate', 'calls'] },
    says: /missed_rate_change\b/,
    never: /missed_rate_change_percent/,
    silent: { ...october, measures: ['missed_rate', 'calls'] },
  },
  {
    ask: { ...october, compare: 'previous', explain: true },
    says: /calls_change_per_day/,
    never: /"channel","Tracker"/,
    silent: { period: 'last week', compare: 'previous', explain: true },
    at: assistants,
  },
  {
    ask: {
      period: '2026-10-05 to 2026-10-25',
      compare: '2026-09-07 to 2026-09-27',
      explain: true,
    },
    says: /\["account","«?berlin/,
    never: failure,
    silent: { period: '2026-11-02 to 2026-11-08', compare: 'previous', explain: true },
    whose: 'two accounts',
    at: assistants,
  },
];

const onlyOfV3 = /Only v3 of the API has ppc_campaign/;

/** Accounts that are asked together, and version 2. */
const accounts: readonly Trap[] = [
  {
    ask: { ...october, measures: ['callers'] },
    says: /Callers cannot be matched between accounts/,
    never: /There is no/,
    silent: { ...october, measures: ['callers'], group_by: ['account'] },
    whose: 'two accounts',
    at: assistants,
  },
  {
    ask: { ...october, group_by: ['campaign'] },
    says: onlyOfV3,
    never: /nearest/,
    silent: { ...october, group_by: ['ppc_campaign_id'] },
    whose: 'v2',
  },
  {
    ask: { ...october, where: 'campaign IS NULL' },
    says: onlyOfV3,
    never: /calls match/,
    silent: { ...october, where: 'ppc_campaign_id IS NULL' },
    whose: 'v2',
  },
  {
    ask: { ...october, measures: ['distinct(campaign)'] },
    says: onlyOfV3,
    never: /nearest/,
    silent: { ...october, measures: ['distinct(channel)'] },
    whose: 'v2',
  },
];

/** Rates, means and shares without their calls. */
const bases: readonly Trap[] = [
  {
    ask: { ...october, measures: ['missed_rate'], group_by: ['state'] },
    says: /"columns":\["state","missed_rate","calls"\]|"missed_rate":[^,]+,"calls":\d+\}/,
    never: failure,
    silent: { ...october, measures: ['calls', 'missed_rate'], group_by: ['state'] },
  },
  {
    ask: { ...october, measures: ['talk_mean'], group_by: ['campaign'] },
    says: /"columns":\["ppc_campaign","talk_mean","calls"\]|"talk_mean":[^,]+,"calls":\d+\}/,
    never: failure,
    silent: { ...october, measures: ['calls', 'talk_mean'], group_by: ['campaign'] },
  },
  {
    ask: { ...october, measures: ['reached_within(48)'] },
    says: /reached_within_48_of/,
    never: failure,
    silent: { ...october, measures: ['missed_rate'] },
  },
  {
    ask: { ...october, where: 'duration >= 60' },
    says: /compares talk_minutes, which is in minutes: 60 seconds are 1/,
    never: failure,
    silent: { ...october, where: 'talk_minutes >= 6' },
  },
];

const fewCalls = /Few calls on 2026-11-19 \(1, usually 30\)/;

/** Days with hardly a call. */
const outages: readonly Trap[] = [
  {
    ask: { from: '2026-10-01', measures: ['per_day'] },
    says: fewCalls,
    never: /2026-11-26 \(/,
    silent: { from: '2026-10-01', to: '2026-11-15', measures: ['per_day'] },
  },
  {
    ask: { from: '2026-10-01', group_by: ['week'] },
    says: fewCalls,
    never: /2026-11-26 \(/,
    silent: { from: '2026-10-01', group_by: ['state'] },
  },
  {
    ask: { period: 'this month', compare: 'previous' },
    says: fewCalls,
    never: /2026-11-26 \(/,
    silent: { ...october, compare: '2026-09' },
  },
  {
    ask: { period: 'last week', compare: 'previous' },
    says: fewCalls,
    never: /2026-11-12 \(/,
    silent: { period: '2026-11-09 to 2026-11-15', compare: 'previous' },
    at: ['a file copy'],
  },
  {
    ask: { from: '2026-10-01', where: "weekday <> 'Mon'", measures: ['per_day'] },
    says: fewCalls,
    never: failure,
    silent: { from: '2026-10-01', where: "weekday <> 'Thu'", measures: ['per_day'] },
  },
];

const numbered = /nearest: [^"]*\(\d+ calls?\)/;

/** Words that are wrong, or about what is not in the data. */
const hints: readonly Trap[] = [
  {
    ask: { ...october, where: "campaign = 'Remarkting'" },
    says: /nearest: 'Harbor Dental \| Remarketing'\./,
    never: numbered,
    silent: { ...october, where: "campaign = 'Harbor Dental | Remarketing'" },
  },
  {
    ask: { ...october, where: "campaign = 'harbor dental brand'" },
    says: /nearest: 'Harbor Dental \| Brand'/,
    never: numbered,
    silent: { ...october, where: "campaign = 'harbor dental | brand'" },
  },
  {
    ask: { ...october, where: "state = 'Texas'" },
    says: /nearest: 'TX'/,
    never: numbered,
    silent: { ...october, where: "state = 'tx'" },
  },
  {
    ask: { ...october, where: "agent = 'Bob'" },
    says: /Who answered a call is not in the data/,
    never: /Some of the fields/,
    silent: { ...october, where: 'answered' },
  },
  {
    ask: { ...october, where: 'revenue > 100' },
    says: /What a call became is not in the data: a file of outcomes/,
    never: /Some of the fields/,
    silent: { ...october, where: 'rank > 100' },
  },
  {
    ask: { ...october, group_by: ['direction'] },
    says: /outgoing calls are not in the data/,
    never: /duration/,
    silent: { ...october, group_by: ['channel'] },
  },
  {
    ask: { ...october, measures: ['impressions'] },
    says: /Only calls are in the data/,
    never: /Measures:/,
    silent: { ...october, measures: ['missed'] },
  },
  {
    ask: { ...october, group_by: ['caller_city'] },
    says: /city/,
    never: /sid, acct_id/,
    silent: { ...october, group_by: ['state'] },
  },
  {
    ask: { ...october, where: 'talk_minutes:[5 TO x]' },
    says: /Expected a number or ..?\*/,
    never: /There is no field/,
    silent: { ...october, where: 'talk_minutes >= 5' },
  },
  {
    ask: { period: '2026-W60' },
    says: /is not a period/,
    never: /"calls":\d/,
    silent: { period: '2026-W46' },
  },
  {
    ask: { period: 'last weekned' },
    says: /'last week(?:end)?'/,
    never: /"calls":\d/,
    silent: { period: 'last weekend' },
  },
  {
    ask: { period: 'since mondy' },
    says: /is not a period/,
    never: /"calls":\d/,
    silent: { period: 'since monday' },
  },
];

/** All traps, by what they are about. */
export const traps: Readonly<Record<string, readonly Trap[]>> = {
  negations,
  'begin and end of the data': dataEnds,
  'days that a condition leaves out': days,
  comparisons,
  'accounts and versions': accounts,
  'rates and their calls': bases,
  outages,
  hints,
};
