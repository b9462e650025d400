// The twelve questions: what marketing people, agencies and call-centre managers ask.
/**
 * The period of the questions lies within the calls that there are. `days` is how many days of
 * calls there are.
 */
export function questions(days) {
  const end = new Date(Date.UTC(2024, 10, 1) + days * 86_400_000);
  const date = (back) => new Date(end.getTime() - back * 86_400_000).toISOString().slice(0, 10);
  const span = (length) => ({ from: date(length), to: date(1) });
  return {
    'calls of a month': { ...span(30) },
    'campaigns: calls, share, missed': {
      groupBy: ['ppc_campaign'],
      measures: ['calls', 'share', 'missed', 'missed_rate'],
    },
    'campaigns: talk time with median and p90': {
      groupBy: ['ppc_campaign'],
      measures: ['talk_sum', 'talk_mean', 'talk_median', 'talk_p90'],
    },
    'campaigns: different callers': { groupBy: ['ppc_campaign'], measures: ['calls', 'callers'] },
    'months by channel: different callers': {
      groupBy: ['month', 'channel'],
      measures: ['calls', 'callers'],
    },
    'days of a quarter by channel: callers, p90': {
      groupBy: ['day', 'channel'],
      measures: ['calls', 'callers', 'talk_p90'],
      ...span(90),
    },
    'months: first-time callers': { groupBy: ['month'], measures: ['calls', 'first_time_callers'] },
    'campaigns of a quarter: repeat callers': {
      groupBy: ['ppc_campaign'],
      measures: ['callers', 'repeat_callers'],
      ...span(90),
    },
    'campaigns: 30 days against the 30 before': {
      groupBy: ['ppc_campaign'],
      measures: ['calls', 'missed_rate', 'callers'],
      ...span(30),
      compare: 'previous',
    },
    'weekdays by hour in another time zone': {
      groupBy: ['weekday', 'hour'],
      measures: ['calls', 'missed_rate'],
      timeZone: 'America/New_York',
      inZone: 'Europe/Berlin',
    },
    'landing pages under a condition': {
      groupBy: ['landing_page'],
      measures: ['calls', 'talk_mean'],
      where:
        "talk_minutes >= 2 AND ppc_gclid IS NOT NULL AND state IN ('TX', 'CA') AND landing_page LIKE '/e%'",
    },
    'keywords: visit to call, long calls by a condition': {
      groupBy: ['ppc_keywords'],
      measures: ['calls', 'lag_median', 'count(talk_minutes >= 10) as long_calls'],
      having: 'calls >= 100',
      order: 'long_calls desc',
      limit: 20,
    },
  };
}

/**
 * Questions beyond the twelve that take the most work: those that look at every caller of every
 * group.
 */
export const others = {
  'all time: repeat callers': { measures: ['callers', 'repeat_callers'] },
  'all time by campaign: repeat callers': {
    groupBy: ['ppc_campaign'],
    measures: ['callers', 'repeat_callers'],
  },
};
