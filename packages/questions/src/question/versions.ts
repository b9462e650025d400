import { fields } from '@call-attribution/core/record';
import { QuestionError } from '../errors.ts';
import { allFields } from '../fields/vocabulary.ts';
import { type Named, namedFields } from './needs.ts';

const onlyOfV3: ReadonlySet<string> = new Set(
  fields.flatMap(({ name, v2 }) => (v2 === null ? [name] : [])),
);

/** Has only v3 of the API this field, or all that it is made of? */
function isOnlyOfV3(name: string): boolean {
  const needs = allFields.get(name)?.needs ?? [];
  return needs.length > 0 && needs.every((each) => onlyOfV3.has(each));
}

/** What v2 has in place of a field. */
const instead: Readonly<Record<string, string>> = {
  ppc_campaign: 'ppc_campaign_id',
  ppc_adgroup: 'ppc_adgroup_id',
  ppc_keywords: 'ppc_keyword_id',
  ppc_match_type: 'vt_matchtype',
  ppc_ad_id: 'vt_creative',
  ppc_gclid: 'click_id',
  first_touch_title: 'first_touch',
  first_touch_domain: 'first_touch',
  landing_page: 'first_touch',
  last_touch_title: 'last_touch',
  last_touch_domain: 'last_touch',
  conversion_page: 'last_touch',
  call_duration: 'talk_minutes',
};

/**
 * Refuses fields that calls of v2 do not have: where they stand for nothing, each count would look
 * like an answer.
 */
export function refuseOnlyOfV3(named: Named): void {
  const name = namedFields(named).find(isOnlyOfV3);
  if (name === undefined) return;
  const next = instead[name] === undefined ? '' : ` Use ${instead[name]}.`;
  throw new QuestionError(
    'unknown_name',
    `Only v3 of the API has ${name}, and these calls are of v2.${next}`,
  );
}
