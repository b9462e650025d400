// The twelve questions in plain JavaScript over lines of JSON, as a script of your own would ask them.
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

const isMissed = (call) => (Number(call.talk_minutes) === 0 ? 1 : 0);
const sum = (values) => values.reduce((total, value) => total + value, 0);
const quantile = (values, share) =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)];

/** Minutes from the visit to the call. */
const lagOf = (call) => (Date.parse(call.date_added) - Date.parse(call.displayed_timestamp)) / 60_000;

const isLong = (call) => (Number(call.talk_minutes) >= 10 ? 1 : 0);

/** Each question: which calls count, their group, what a group keeps of a call, and what is made of it in the end. */
export function questionsInJavaScript({ month, before, quarter, end }) {
  const within = (from) => (call) => call.date_added >= from && call.date_added < end;
  const campaign = (call) => call.ppc_campaign;
  const callers = () => ({ callers: new Set() });
  const addCaller = (group, call) => group.callers.add(call.ani);
  const countCallers = (group) => group.callers.size;
  return {
    'calls of a month': { counts: within(month), key: () => '' },
    'campaigns: calls, share, missed': {
      key: campaign,
      group: () => ({ missed: 0 }),
      add: (group, call) => {
        group.missed += isMissed(call);
      },
    },
    'campaigns: talk time with median and p90': {
      key: campaign,
      group: () => ({ talk: [] }),
      add: (group, call) => group.talk.push(Number(call.talk_minutes)),
      end: ({ talk }) => [sum(talk), sum(talk) / talk.length, quantile(talk, 0.5), quantile(talk, 0.9)],
    },
    'campaigns: different callers': { key: campaign, group: callers, add: addCaller, end: countCallers },
    'months by channel: different callers': {
      key: (call) => `${call.date_added.slice(0, 7)} ${call.channel}`,
      group: callers,
      add: addCaller,
      end: countCallers,
    },
    'days of a quarter by channel: callers, p90': {
      counts: within(quarter),
      key: (call) => `${call.date_added.slice(0, 10)} ${call.channel}`,
      group: () => ({ callers: new Set(), talk: [] }),
      add: (group, call) => {
        group.callers.add(call.ani);
        group.talk.push(Number(call.talk_minutes));
      },
      end: ({ callers, talk }) => [callers.size, quantile(talk, 0.9)],
    },
    'months: first-time callers': firstTimeCallers(),
    'campaigns of a quarter: repeat callers': {
      counts: within(quarter),
      key: campaign,
      group: () => ({ callers: new Map() }),
      add: (group, call) => group.callers.set(call.ani, (group.callers.get(call.ani) ?? 0) + 1),
      end: ({ callers }) => [callers.size, [...callers.values()].filter((n) => n > 1).length],
    },
    'campaigns: 30 days against the 30 before': {
      counts: within(before),
      key: (call) => `${call.date_added >= month} ${call.ppc_campaign}`,
      group: () => ({ missed: 0, callers: new Set() }),
      add: (group, call) => {
        group.missed += isMissed(call);
        group.callers.add(call.ani);
      },
      shows: (key) => key.startsWith('true'),
    },
    'weekdays by hour in another time zone': {
      key: (call) => {
        const later = new Date(Date.parse(call.date_added) + 6 * 3_600_000);
        return `${later.getDay()} ${later.getHours()}`;
      },
      group: () => ({ missed: 0 }),
      add: (group, call) => {
        group.missed += isMissed(call);
      },
    },
    'landing pages under a condition': {
      counts: (call) =>
        Number(call.talk_minutes) >= 2 &&
        call.ppc_gclid !== null &&
        (call.state === 'TX' || call.state === 'CA') &&
        call.landing_page?.startsWith('/e') === true,
      key: (call) => call.landing_page,
      group: () => ({ talk: 0 }),
      add: (group, call) => {
        group.talk += Number(call.talk_minutes);
      },
    },
    'keywords: visit to call, long calls by a condition': {
      key: (call) => call.ppc_keywords,
      group: () => ({ lags: [], long: 0 }),
      add: (group, call) => {
        const lag = lagOf(call);
        if (lag >= 0) group.lags.push(lag);
        group.long += isLong(call);
      },
      end: ({ lags }) => quantile(lags, 0.5),
      pick: (groups) =>
        groups
          .filter(({ n }) => n >= 100)
          .sort((a, b) => b.long - a.long)
          .slice(0, 20),
    },
  };
}

function firstTimeCallers() {
  const firsts = new Map();
  return {
    key: (call) => call.date_added.slice(0, 7),
    group: () => ({ first: 0 }),
    add: (group, call) => {
      const first = firsts.get(call.ani);
      if (first !== undefined && first.date <= call.date_added) return;
      if (first !== undefined) first.group.first -= 1;
      group.first += 1;
      firsts.set(call.ani, { date: call.date_added, group });
    },
  };
}

/** Reads all lines for one question and gives the number of calls in each group. */
export async function askLines(lines, question) {
  const { counts, key, group: start, add, end, shows, pick } = question;
  const groups = new Map();
  for await (const line of createInterface({
    input: createReadStream(lines, { highWaterMark: 1 << 20 }),
    crlfDelay: Infinity,
  })) {
    const call = JSON.parse(line);
    if (counts !== undefined && !counts(call)) continue;
    const name = key(call);
    let group = groups.get(name);
    if (group === undefined) {
      group = { n: 0, ...start?.() };
      groups.set(name, group);
    }
    group.n += 1;
    add?.(group, call);
  }
  const shown = [...groups].filter(([name]) => shows?.(name) ?? true).map(([, group]) => group);
  for (const group of shown) group.result = end?.(group);
  return (pick?.(shown) ?? shown).map(({ n }) => n);
}
