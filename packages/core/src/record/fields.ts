// The one table of fields, exported as `@call-attribution/core/fields` too. This file imports
// nothing: `pnpm generate` loads it on its own, and browsers use it.

/** A version of the API. */
export type Version = 'v2' | 'v3';

/**
 * The form in which a field is sent. Most numbers are decimal strings, so that nothing is rounded
 * on the way.
 */
export type FieldType =
  | 'string'
  | 'url'
  | 'integer'
  | 'integer-string'
  | 'decimal-string'
  | 'datetime'
  | 'datetime-tenths'
  | 'null';

/** The part of a call that a field is about. */
export type FieldGroup =
  | 'timing'
  | 'caller'
  | 'attribution'
  | 'ads'
  | 'device'
  | 'custom'
  | 'system';

/** Classes of personal data. Each one is masked, or shown, as a whole. */
export const maskClasses = ['caller', 'name', 'address', 'ip', 'recording'] as const;

/** A class of personal data. */
export type MaskClass = (typeof maskClasses)[number];

/**
 * What a user can ask to be shown: a class of personal data, text from visitors as it was sent, or
 * everything.
 */
export const revealChoices = [...maskClasses, 'text', 'all'] as const;

/** How a personal field is masked. */
export interface Mask {
  /** Fields of one class are masked or shown together. */
  readonly class: MaskClass;
  /**
   * What the value is. Equal values of one kind get the same pseudonym, whichever field they are
   * in.
   */
  readonly kind: 'phone' | 'name' | 'street' | 'zip' | 'ip' | 'recording';
}

/** Everything the project knows about one field of a call record. */
export interface FieldSpec {
  /** Version-neutral name: the v3 name, or the v2 name where v3 has none. */
  readonly name: string;
  /** Name in a v2 record, or null when v2 does not have the field. */
  readonly v2: string | null;
  /** Name in a v3 record, or null when v3 does not have the field. */
  readonly v3: string | null;
  /** The form in which the value is sent. */
  readonly type: FieldType;
  /** May the value be null? A field without a value is sent as null, never left out. */
  readonly nullable: boolean;
  /** The API advises against using the field. */
  readonly deprecated: boolean;
  /** The part of a call that the field is about. */
  readonly group: FieldGroup;
  /**
   * Says who the caller is or how to reach them: never printed in errors, masked unless people ask
   * for it.
   */
  readonly personal: boolean;
  /** How the value is masked; only personal fields have it. */
  readonly mask?: Mask;
  /**
   * What AI assistants see: the value, a pseudonym of the caller, or only whether there is one
   * until it is revealed. What is not listed as shown is not.
   */
  readonly agents: 'shown' | 'pseudonym' | 'revealed';
  /**
   * The value identifies something, such as an account or a campaign: it is compared, never added
   * up.
   */
  readonly isId: boolean;
  /** Free text from a visitor or a website: not to be trusted. */
  readonly visitorText: boolean;
  /** The values that the API documents. */
  readonly values?: readonly (string | number)[];
  /** What each value means, in the order of `values`, when the value does not say so itself. */
  readonly valueMeanings?: readonly string[];
  /** The list is not complete: other values are fine. */
  readonly openValues?: true;
  /** Values that may still change later. All others are final. */
  readonly interimValues?: readonly string[];
  /** Other names that servers are known to send for the field. */
  readonly aliases?: readonly string[];
  /** Names that people use for the field in questions, such as `campaign`. */
  readonly otherNames?: readonly string[];
  /** What the field means, in one sentence. */
  readonly meaning: string;
}

type Extra = Partial<
  Omit<FieldSpec, 'name' | 'type' | 'group' | 'meaning' | 'nullable' | 'agents'>
>;

/**
 * One line of the table. A type ending in `?` may be null. Both versions have the field unless
 * `extra` says otherwise. Assistants do not see it, but for a pseudonym of the caller.
 */
function field(
  name: string,
  type: FieldType | `${FieldType}?`,
  group: FieldGroup,
  meaning: string,
  extra: Extra = {},
): FieldSpec {
  const base = {
    name,
    v2: name,
    v3: name,
    type: type.replace('?', '') as FieldType,
    nullable: type.endsWith('?') || type === 'null',
    deprecated: false,
    group,
    personal: extra.mask !== undefined,
    isId: false,
    visitorText: false,
    agents: extra.mask?.class === 'caller' ? ('pseudonym' as const) : ('revealed' as const),
  };
  return { ...base, ...extra, meaning };
}

/**
 * A field that AI assistants see: times, numbers, enumerations, ids, places, the account's own
 * words, and addresses of pages, of which they get the known parts.
 */
const shown: typeof field = (...given) => ({ ...field(...given), agents: 'shown' });

const v3: Extra = { v2: null };
const dropped: Extra = { v3: null, deprecated: true };
const visitor: Extra = { visitorText: true };
const id: Extra = { isId: true };
const said = (...otherNames: string[]): Extra => ({ otherNames });
const masked = (maskClass: MaskClass, kind: Mask['kind']): Extra => ({
  mask: { class: maskClass, kind },
});

const activityTypes = [
  'Direct Default',
  'Referrer Domain',
  'Tagged URL',
  'Organic Search Keyword',
  'All Organic Search',
  'Url Path',
  'Custom Tagged URL',
  'Direct Visit',
];
const interim = ['Not Processed', 'Waiting For Keyword'];
const ppcStatuses = [...interim, 'Processed', 'Desktop', 'No Match', 'N/A'];

/**
 * The one table of fields. Interfaces, validators, schemas, rename lists, columns and
 * `docs/fields.md` are made from it by `pnpm generate`. To add a field, add a line here and run it:
 * `field` hides it from assistants, `shown` shows it.
 */
// biome-ignore format: one field a line, so that the table reads as a table
export const fields: readonly FieldSpec[] = [
  shown('sid', 'string', 'system', 'Unique id of the call; the key of the record.', id),
  shown('acct_id', 'string', 'system', 'Account the call belongs to.', id),
  shown('date_added', 'datetime', 'timing', 'When the call was made.'),
  shown('smart_minutes', 'decimal-string', 'timing', 'Minutes, in tenths, that the call was on the system without being connected to a second party.'),
  shown('talk_minutes', 'decimal-string', 'timing', 'Minutes, in tenths, that the caller was connected to a second party.', said('minutes', 'duration', 'talk_time')),
  shown('talk_start', 'datetime-tenths', 'timing', 'When the second party was connected.'),
  shown('talk_end', 'datetime-tenths', 'timing', 'When the second party was disconnected.'),
  shown('call_duration', 'integer-string', 'timing', 'Length of the call in whole minutes, rounded up.', v3),
  shown('dnis', 'string', 'caller', 'Number that the caller dialed.', said('number_dialed')),
  field('ani', 'string', 'caller', 'Caller ID: the number the caller called from.', { ...masked('caller', 'phone'), ...said('caller') }),
  field('first_name', 'string?', 'caller', 'First name of the caller, when reverse lookup is enabled and found one.', masked('name', 'name')),
  field('last_name', 'string?', 'caller', 'Last name of the caller, from reverse lookup.', masked('name', 'name')),
  field('street_address', 'string?', 'caller', 'Street address of the caller, from reverse lookup.', masked('address', 'street')),
  shown('city', 'string?', 'caller', 'City of the caller, from reverse lookup.'),
  shown('state', 'string?', 'caller', 'State of the caller, from reverse lookup.'),
  field('zipcode', 'string?', 'caller', 'Zip code of the caller, from reverse lookup.', masked('address', 'zip')),
  field('phone_number', 'string?', 'caller', 'Mostly null; use `dnis` and `ani` instead.', { ...dropped, ...masked('caller', 'phone') }),
  shown('phone_label', 'string?', 'caller', 'Label that the account gave to the dialed number.', said('label')),
  field('recording', 'string?', 'caller', 'Present in every record; the API does not say what it holds. Treated as a link to a recording.', masked('recording', 'recording')),
  shown('call_logging_id', 'null', 'system', 'Always null; must not be used.', { ...dropped, ...id }),
  shown('super_id', 'string?', 'system', 'Id associated with the visitor.', { ...dropped, ...id }),
  shown('pid', 'string', 'system', 'Unique id of the visitor.', { ...v3, ...id }),
  shown('rank', 'integer-string', 'attribution', 'How confidently the call is matched to a web session, from 1 (most confident) to 5.', { values: ['1', '2', '3', '4', '5'] }),
  shown('channel', 'string', 'attribution', 'Channel the call came through: a tracked web visit or a call extension of an ad. For web visits the value may contain a product name.', { values: ['Tracker', 'Call Extension'], openValues: true }),
  shown('activity_type_id', 'integer', 'attribution', 'Kind of tracking activity that made the number on the page change.', { ...id, values: [1, 2, 3, 4, 5, 6, 7, 8], valueMeanings: activityTypes }),
  shown('activity_keyword', 'string?', 'attribution', 'Pattern of the URL tag that made the number change.'),
  field('incoming_keyword', 'string?', 'attribution', 'Part of the visit that matched the tracking activity.', visitor),
  field('search_term', 'string?', 'attribution', 'Search string that led to the number being shown on the website.', visitor),
  field('url_tag', 'string', 'attribution', 'URL tag that made the number change, with its wildcards filled in from the visit.', visitor),
  shown('first_touch', 'url?', 'attribution', 'Full URL of the page where the visitor was first attributed.', { v2: 'baseuri', visitorText: true }),
  field('first_touch_title', 'string?', 'attribution', 'Title of the first-touch page.', { ...v3, ...visitor }),
  shown('first_touch_domain', 'string?', 'attribution', 'Domain of the first-touch page.', { ...v3, ...visitor }),
  shown('landing_page', 'string?', 'attribution', 'Path of the first-touch page, without the domain.', { ...said('landing'), ...v3, ...visitor }),
  shown('last_touch', 'url?', 'attribution', 'Full URL of the page where the visitor was last attributed before calling.', visitor),
  field('last_touch_title', 'string?', 'attribution', 'Title of the last-touch page.', { ...v3, ...visitor }),
  shown('last_touch_domain', 'string?', 'attribution', 'Domain of the last-touch page.', { ...v3, ...visitor }),
  shown('last_touch_timestamp', 'datetime?', 'attribution', 'When the last touch happened.'),
  shown('conversion_page', 'string?', 'attribution', 'Path of the last-touch page, without the domain.', { ...v3, ...visitor }),
  shown('referrer', 'string', 'attribution', 'Domain the visitor came from; may be empty.', { ...visitor, ...said('source') }),
  shown('displayed_timestamp', 'datetime', 'attribution', 'When the visitor first saw a substituted number and tracking began.'),
  shown('pool_id', 'integer', 'attribution', 'Id of the number pool that the number came from.', id),
  shown('domain_set_id', 'integer', 'attribution', 'Id of the set of domains that the visit is tracked on.', id),
  shown('location_id', 'integer?', 'attribution', 'Id of the tracking location, if there is one.', { ...v3, ...id }),
  shown('ppc_status', 'string', 'ads', 'How far the ad data of the call has been processed; the first two values may still change.', { ...said('status'), ...v3, values: ppcStatuses, interimValues: interim }),
  shown('ppc_account_id', 'string?', 'ads', 'Search-advertising account id.', { ...id, v2: 'ads_account_id', aliases: ['adwords_account_id'] }),
  shown('ppc_campaign_id', 'string?', 'ads', 'Campaign id.', { ...id, v2: 'ads_campaign_id', aliases: ['adwords_campaign_id'] }),
  shown('ppc_campaign', 'string?', 'ads', 'Campaign name.', { ...v3, ...said('campaign') }),
  shown('ppc_adgroup_id', 'string?', 'ads', 'Ad group id.', { ...id, v2: 'ads_adgroup_id', aliases: ['adwords_adgroup_id'] }),
  shown('ppc_adgroup', 'string?', 'ads', 'Ad group name.', { ...said('adgroup', 'ad_group'), ...v3, aliases: ['ppc_ad_group'] }),
  shown('ppc_keyword_id', 'string?', 'ads', 'Keyword id.', { ...id, v2: 'ads_keyword_id', aliases: ['adwords_keyword_id'] }),
  shown('ppc_keywords', 'string?', 'ads', 'Keyword text.', { ...v3, ...said('keyword', 'keywords') }),
  shown('ppc_match_type', 'string?', 'ads', 'Match type of the keyword; unavailable for legacy call extensions.', { ...v3, ...said('match_type') }),
  shown('ppc_ad_id', 'string?', 'ads', 'Ad id.', { ...v3, ...id }),
  shown('ppc_gclid', 'string?', 'ads', 'Click id of the ad click.', { ...said('gclid'), ...v3, ...id, ...visitor }),
  shown('vt_keyword', 'string?', 'ads', 'Click parameter: keyword.', visitor),
  shown('vt_matchtype', 'string?', 'ads', 'Click parameter: match type.', visitor),
  shown('vt_network', 'string?', 'ads', 'Click parameter: network the ad was shown on.', { ...visitor, ...said('network') }),
  shown('vt_device', 'string?', 'ads', 'Click parameter: kind of device.', { ...visitor, ...said('device') }),
  shown('vt_devicemodel', 'string?', 'ads', 'Click parameter: model of the device.', visitor),
  shown('vt_creative', 'string?', 'ads', 'Click parameter: creative id.', visitor),
  shown('vt_placement', 'string?', 'ads', 'Click parameter: placement.', visitor),
  shown('vt_target', 'string?', 'ads', 'Click parameter: target.', visitor),
  field('vt_param1', 'string?', 'ads', 'Click parameter: first free parameter.', visitor),
  field('vt_param2', 'string?', 'ads', 'Click parameter: second free parameter.', visitor),
  shown('vt_random', 'string?', 'ads', 'Click parameter: random number.', visitor),
  shown('vt_aceid', 'string?', 'ads', 'Click parameter: experiment id.', visitor),
  shown('vt_adposition', 'string?', 'ads', 'Click parameter: position of the ad.', visitor),
  shown('vt_adtype', 'string?', 'ads', 'Click parameter: type of the ad.', visitor),
  shown('vt_ads_producttargetid', 'string?', 'ads', 'Present in every record; the API does not say what it holds. Judging by its name, a product target id.', visitor),
  field('ip_address', 'string', 'device', 'IP address of the visitor.', masked('ip', 'ip')),
  shown('os', 'string?', 'device', 'Operating system of the visitor.', { ...v3, ...visitor }),
  shown('os_version', 'string?', 'device', 'Version of the operating system.', { ...v3, ...visitor }),
  shown('browser', 'string?', 'device', 'Browser of the visitor.', { ...v3, ...visitor }),
  shown('browser_version', 'string?', 'device', 'Version of the browser.', { ...v3, ...visitor }),
  field('custom_id', 'string?', 'custom', 'Value of `_st_custom_id`, set by the website of the visit.', { ...v3, ...visitor }),
  field('custom_value', 'string?', 'custom', 'Value of `_st_custom_value`, set by the website of the visit.', { ...v3, ...visitor }),
];

const unfinished: ReadonlySet<unknown> = new Set(interim);

/**
 * Is this value of `ppc_status` final? `Not Processed` and `Waiting For Keyword` may still change;
 * all other values, unknown ones too, stay.
 */
export function isFinalStatus(status: unknown): boolean {
  return !unfinished.has(status);
}

/**
 * Did the call come through a call extension of an ad? Servers name the channel in several ways:
 * `Call Extension`,
 * `Call Extensions`, `Google Call Extension`.
 */
export function isCallExtension(call: { readonly channel?: unknown }): boolean {
  return (
    typeof call.channel === 'string' &&
    /(?<![a-z])call[ _-]?extensions?(?![a-z])/i.test(call.channel)
  );
}
