// The same numbers as a script of one's own would count them: no names, no periods, no time zones,
// no checks.
const missed = ({ talk_minutes }) => (Number(talk_minutes) === 0 ? 1 : 0);

function groupsOf(list, keyOf, make, add) {
  const groups = new Map();
  for (const call of list) {
    const key = keyOf(call);
    let group = groups.get(key);
    if (group === undefined) {
      group = make();
      groups.set(key, group);
    }
    add(group, call);
  }

  return groups;
}

const callsAndGroups = (list, groups) => [[list.length, groups.size]];
const campaign = ({ ppc_campaign }) => ppc_campaign;
const dimensions = ['ppc_campaign', 'ppc_keywords', 'landing_page', 'referrer', 'channel'];

/** By the name of the case: the number of calls and of groups of each question. */
export const byHand = {
  'calls by campaign': (list) =>
    callsAndGroups(
      list,
      groupsOf(
        list,
        campaign,
        () => ({ calls: 0 }),
        (group) => {
          group.calls += 1;
        },
      ),
    ),
  'five measures by campaign': (list) => {
    const groups = groupsOf(
      list,
      campaign,
      () => ({ calls: 0, missed: 0, talk: [] }),
      (group, call) => {
        group.calls += 1;
        group.missed += missed(call);
        group.talk.push(Number(call.talk_minutes));
      },
    );
    for (const group of groups.values()) {
      group.sum = group.talk.reduce((sum, minutes) => sum + minutes, 0);
      group.median = group.talk.sort((a, b) => a - b)[Math.ceil(group.talk.length / 2) - 1];
    }

    return callsAndGroups(list, groups);
  },
  'callers by campaign': (list) =>
    callsAndGroups(
      list,
      groupsOf(
        list,
        campaign,
        () => ({ callers: new Set() }),
        ({ callers }, { ani }) => callers.add(ani),
      ),
    ),
  'first-time callers by month': (list) => {
    const firsts = new Map();
    for (const { ani, date_added } of list) {
      const first = firsts.get(ani);
      if (first === undefined || date_added < first) firsts.set(ani, date_added);
    }

    const months = groupsOf(
      list,
      ({ date_added }) => date_added.slice(0, 7),
      () => ({ first: 0 }),
      (group, { ani, date_added }) => {
        if (firsts.get(ani) === date_added) group.first += 1;
      },
    );
    return callsAndGroups(list, months);
  },
  'seven questions of the page': (list) => {
    const total = { calls: 0, missed: 0, talk: 0 };
    const days = new Map();
    const groups = dimensions.map(() => new Map());

    const count = (map, key, isMissed) => {
      let group = map.get(key);
      if (group === undefined) {
        group = { calls: 0, missed: 0 };
        map.set(key, group);
      }

      group.calls += 1;
      group.missed += isMissed;
    };

    for (const call of list) {
      const isMissed = missed(call);
      total.calls += 1;
      total.missed += isMissed;
      total.talk += Number(call.talk_minutes);
      count(days, call.date_added.slice(0, 10), isMissed);
      for (let i = 0; i < dimensions.length; i += 1)
        count(groups[i], call[dimensions[i]], isMissed);
    }

    // Some days, such as holidays, have no call; an answer has a row for them.
    const dates = [...days.keys()].sort();
    const allDays = (Date.parse(dates.at(-1)) - Date.parse(dates[0])) / 86_400_000 + 1;
    return [1, allDays, ...groups.map(({ size }) => size)].map((size) => [total.calls, size]);
  },
};
