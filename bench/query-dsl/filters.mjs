// The same filters in each language: ours, Lucene's (dates as digits, since no Lucene parser reads
// a space or a colon in a bound), and those that compare with operators.
const two = (/** @type {number} */ value) => String(value).padStart(2, '0');

/**
 * @typedef {{ field: string, lower: string | null, upper: string | null, below: boolean }} Range
 * @param {number} count of clauses; the last of three and more is the flag
 * @param {number} seed varies the bounds
 */
export function makeFilter(count, seed) {
  /** @type {Range[]} */
  const ranges = [];
  const flag = count > 1;
  for (let index = 0; index < (flag ? count - 1 : count); index++) {
    const day = 1 + ((index + seed) % 20);
    const kind = count === 1 ? 1 : index % 3;
    const upper = kind === 1 ? null : String(30 + index / 10);
    ranges.push(
      kind === 0
        ? {
            field: 'date_added',
            lower: `2024-01-${two(day)} 00:00:00`,
            upper: '2024-02-01 00:00:00',
            below: true,
          }
        : {
            field: 'talk_minutes',
            lower: String((index + seed) % 5),
            upper,
            below: false,
          },
    );
  }

  return {
    ours: [...ranges.map(ours), ...(flag ? ['inc_gce:1'] : [])].join(','),
    lucene: [...ranges.map(lucene), ...(flag ? ['inc_gce:1'] : [])].join(' AND '),
    liqe: [...ranges.map(liqe), ...(flag ? ['inc_gce:1'] : [])].join(' AND '),
    rsql: [...ranges.flatMap(rsql), ...(flag ? ['inc_gce==1'] : [])].join(';'),
    jsep: [...ranges.flatMap(jsep), ...(flag ? ['inc_gce == 1'] : [])].join(' && '),
    graphql: `{ calls(where: [${[...ranges.map(graphql), ...(flag ? ['{ inc_gce: 1 }'] : [])].join(', ')}]) }`,
  };
}

/** @param {Range} range */
const ours = ({ field, lower, upper, below }) =>
  `${field}:[${lower ?? '*'} TO ${upper ?? '*'}${below ? '}' : ']'}`;

/** @param {string | null} text */
const digits = (text) => (text ?? '*').replace(/[-: ]/g, '');

/** @param {Range} range */
const lucene = ({ field, lower, upper, below }) =>
  `${field}:[${digits(lower)} TO ${digits(upper)}${below ? '}' : ']'}`;

/** @param {Range} range */
const liqe = (range) =>
  range.upper === null ? `${range.field}:>=${digits(range.lower)}` : lucene(range);

/** @param {Range} range */
const rsql = ({ field, lower, upper, below }) =>
  [lower && `${field}=ge="${lower}"`, upper && `${field}=${below ? 'lt' : 'le'}="${upper}"`].filter(
    Boolean,
  );

/** @param {Range} range */
const jsep = ({ field, lower, upper, below }) =>
  [lower && `${field} >= "${lower}"`, upper && `${field} ${below ? '<' : '<='} "${upper}"`].filter(
    Boolean,
  );

/** @param {Range} range */
const graphql = ({ field, lower, upper, below }) =>
  `{ ${field}: { ${[lower && `from: "${lower}"`, upper && `${below ? 'before' : 'to'}: "${upper}"`].filter(Boolean).join(', ')} } }`;
