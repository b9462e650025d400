import { nearest } from '@call-attribution/query-dsl';

// Names that no field or measure has: what is not in the data at all, or the name that was meant.

/** What people ask for that calls do not say, with what there is instead. */
// biome-ignore format: one thing a line
const absent: readonly (readonly [names: string, sentence: string])[] = [
  ['agent operator receptionist employee staff user answered_by', 'Who answered a call is not in the data.'],
  ['outcome outcomes revenue sale sales value profit deal conversion conversions', 'What a call became is not in the data: a file of outcomes brings the measures outcomes and revenue.'],
  ['spend cost costs price cpc cpa cpl budget roas', 'What was paid is not in the data: spend, by the values of one group, brings the measures spend and cost_per_call.'],
  ['direction outgoing outbound incoming inbound', 'All calls are incoming ones: outgoing calls are not in the data.'],
  ['click clicks impression impressions ctr visit visits session sessions', 'Only calls are in the data: ads that were seen or clicked, and visits without a call, are not.'],
  ['transcript transcription sentiment summary', 'What was said is not in the data; recording has the link to listen to it.'],
];

const sentences = new Map(
  absent.flatMap(([names, sentence]) => names.split(' ').map((name) => [name, sentence] as const)),
);

/** That something is not in the data, as a sentence; null where nobody knows it. */
export const absentSentence = (name: string): string | null =>
  sentences.get(name.trim().toLowerCase().replace(/[ -]+/g, '_')) ?? null;

/** Fields that people ask for most. */
const usual =
  'campaign keyword source channel landing_page device city state day week month talk_minutes'.split(
    ' ',
  );

/**
 * What to say of a name that is none of these: that the data does not have it, which one was meant,
 * or which there are.
 */
export function explainUnknown(
  written: string,
  names: readonly string[],
): { readonly said: string; readonly meant: string | undefined } {
  const missing = absentSentence(written);
  if (missing !== null) return { said: missing, meant: undefined };
  const ofCaller = written.replace(/^(?:caller|customer|visitor|call)_/i, '');
  const meant = nearest(written, names) ?? nearest(ofCaller, names);
  if (meant !== undefined) return { said: '', meant };
  const known = usual.filter((name) => names.includes(name));
  const some = known.length > 0 ? known : names.slice(0, 8);
  return { said: `Some of the fields: ${some.join(', ')}.`, meant };
}
