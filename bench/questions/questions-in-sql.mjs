// The twelve questions in SQL, for databases that keep calls as JSON. What SQLite and DuckDB write
// differently is in `way`.

/**
 * `way` says how a database reads a field: `text(name)`, `talk` (talk time in minutes), `lag` (minutes from visit to call),
 * `later(format)` (the time of the call six hours later, formatted) and `quantile(value, share)`. Each statement gives one row
 * for each group with its number of calls as `n`.
 */
export function questionsInSql(
  { text, talk, lag, later, quantile },
  { month, before, quarter, end },
) {
  const campaign = text('ppc_campaign');
  const caller = text('ani');
  const date = text('date_added');
  const within = (from) => `${date} >= '${from}' AND ${date} < '${end}'`;
  const missed = `sum(CASE WHEN ${talk} = 0 THEN 1 ELSE 0 END)`;
  const long = `sum(CASE WHEN ${talk} >= 10 THEN 1 ELSE 0 END)`;
  return (from) => ({
    'calls of a month': `SELECT count(*) AS n ${from} WHERE ${within(month)}`,
    'campaigns: calls, share, missed': `SELECT ${campaign} AS k, count(*) AS n, count(*) * 1.0 / sum(count(*)) OVER () AS share,
        ${missed} AS missed ${from} GROUP BY 1`,
    'campaigns: talk time with median and p90': `SELECT ${campaign} AS k, count(*) AS n, sum(${talk}), avg(${talk}),
        ${quantile(talk, 0.5)}, ${quantile(talk, 0.9)} ${from} GROUP BY 1`,
    'campaigns: different callers': `SELECT ${campaign} AS k, count(*) AS n, count(DISTINCT ${caller}) ${from} GROUP BY 1`,
    'months by channel: different callers': `SELECT substr(${date}, 1, 7) AS k, ${text('channel')} AS c, count(*) AS n,
        count(DISTINCT ${caller}) ${from} GROUP BY 1, 2`,
    'days of a quarter by channel: callers, p90': `SELECT substr(${date}, 1, 10) AS k, ${text('channel')} AS c, count(*) AS n,
        count(DISTINCT ${caller}), ${quantile(talk, 0.9)} ${from} WHERE ${within(quarter)} GROUP BY 1, 2`,
    'months: first-time callers': `SELECT k, count(*) AS n, sum(CASE WHEN called = first THEN 1 ELSE 0 END) FROM (
        SELECT substr(${date}, 1, 7) AS k, ${date} AS called, min(${date}) OVER (PARTITION BY ${caller}) AS first ${from}) AS dated GROUP BY 1`,
    'campaigns of a quarter: repeat callers': `SELECT k, sum(calls) AS n, count(*), sum(CASE WHEN calls > 1 THEN 1 ELSE 0 END) FROM (
        SELECT ${campaign} AS k, ${caller} AS caller, count(*) AS calls ${from} WHERE ${within(quarter)} GROUP BY 1, 2) AS callers GROUP BY 1`,
    'campaigns: 30 days against the 30 before': `SELECT ${campaign} AS k, sum(CASE WHEN ${date} >= '${month}' THEN 1 ELSE 0 END) AS n,
        ${missed}, count(DISTINCT CASE WHEN ${date} >= '${month}' THEN ${caller} END), count(DISTINCT CASE WHEN ${date} < '${month}' THEN ${caller} END)
        ${from} WHERE ${within(before)} GROUP BY 1`,
    'weekdays by hour in another time zone': `SELECT ${later('%w')} AS k, ${later('%H')} AS h, count(*) AS n, ${missed} ${from} GROUP BY 1, 2`,
    'landing pages under a condition': `SELECT ${text('landing_page')} AS k, count(*) AS n, avg(${talk}) ${from}
        WHERE ${talk} >= 2 AND ${text('ppc_gclid')} IS NOT NULL AND ${text('state')} IN ('TX', 'CA') AND ${text('landing_page')} LIKE '/e%' GROUP BY 1`,
    'keywords: visit to call, long calls by a condition': `SELECT ${text('ppc_keywords')} AS k, count(*) AS n, ${quantile(lag, 0.5)}, ${long} AS long_calls
        ${from} GROUP BY 1 HAVING count(*) >= 100 ORDER BY long_calls DESC, 1 LIMIT 20`,
  });
}
