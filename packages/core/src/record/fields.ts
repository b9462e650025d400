/** How a field travels on the wire. Most numbers are decimal text, so that nothing is rounded on the way. */
export type FieldType =
  | 'string'
  | 'url'
  | 'integer'
  | 'integer-string'
  | 'decimal-string'
  | 'datetime'
  | 'datetime-tenths'
  | 'null';

/** The part of a call a field tells about. */
export type FieldGroup = 'timing' | 'caller' | 'attribution' | 'ads' | 'device' | 'custom' | 'system';

/** Everything the project knows about one field of a call record. */
export interface FieldSpec {
  /** Version-neutral name: the v3 name, or the v2 name where v3 has none. */
  readonly name: string;
  /** Name in a v2 record, or null when v2 has no such field. */
  readonly v2: string | null;
  /** Name in a v3 record, or null when v3 has no such field. */
  readonly v3: string | null;
  readonly type: FieldType;
  /** May the value be null by the table? A field without a value is sent as null, never left out. */
  readonly nullable: boolean;
  readonly deprecated: boolean;
  readonly group: FieldGroup;
  /** Tells who the caller is or how to reach them: never printed in errors, masked where people did not ask. */
  readonly personal: boolean;
  /** May stand in `q`. */
  readonly filterable: boolean;
  /** Free text that came from a visitor or a website: untrusted. */
  readonly visitorText: boolean;
  /** The values the API text lists. */
  readonly values?: readonly (string | number)[];
  /** What each listed value means, in the order of `values`, when the value does not say it itself. */
  readonly valueMeanings?: readonly string[];
  /** The list is not complete: other values are no fault. */
  readonly openValues?: true;
  /** Other names that servers are known to send for the same field. */
  readonly aliases?: readonly string[];
  readonly meaning: string;
}

type Extra = Partial<Omit<FieldSpec, 'name' | 'type' | 'group' | 'meaning' | 'nullable'>>;

/** One line of the table. A type ending in `?` may be null; both versions have the field unless `extra` says else. */
function field(
  name: string,
  type: FieldType | `${FieldType}?`,
  group: FieldGroup,
  meaning: string,
  extra: Extra = {},
): FieldSpec {
  const nullable = type.endsWith('?') || type === 'null';
  const base = {
    name,
    v2: name,
    v3: name,
    type: type.replace('?', '') as FieldType,
    nullable,
    deprecated: false,
    group,
  };
  return { ...base, personal: false, filterable: false, visitorText: false, ...extra, meaning };
}

const v3: Extra = { v2: null };
const dropped: Extra = { v3: null, deprecated: true };
const personal: Extra = { personal: true };
const visitor: Extra = { visitorText: true };

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
const ppcStatuses = ['Not Processed', 'Waiting For Keyword', 'Processed', 'Desktop', 'No Match', 'N/A'];

/**
 * The one table of fields. Interfaces, validators, schemas, rename lists, columns and `docs/fields.md` are made from it
 * by `pnpm generate`; to add a field, add a line and run that.
 */
// biome-ignore format: one field a line, so that the table reads as a table
export const fields: readonly FieldSpec[] = [
  field('sid', 'string', 'system', 'Unique id of the call; the key of the record.'),
  field('acct_id', 'string', 'system', 'Account the call belongs to.'),
  field('date_added', 'datetime', 'timing', 'When the call was made.', { filterable: true }),
  field('smart_minutes', 'decimal-string', 'timing', 'Minutes, in steps of a tenth, the call was on the system without a second party.'),
  field('talk_minutes', 'decimal-string', 'timing', 'Minutes, in steps of a tenth, the caller was connected to a second party.', { filterable: true }),
  field('talk_start', 'datetime-tenths', 'timing', 'When the second party was connected.'),
  field('talk_end', 'datetime-tenths', 'timing', 'When the second party was disconnected.'),
  field('call_duration', 'integer-string', 'timing', 'Length of the call in whole minutes, rounded up.', v3),
  field('dnis', 'string', 'caller', 'Number that was dialed.'),
  field('ani', 'string', 'caller', 'Caller ID: the number the caller called from.', personal),
  field('first_name', 'string?', 'caller', 'First name of the caller, from reverse lookup when that is enabled and found something.', personal),
  field('last_name', 'string?', 'caller', 'Last name of the caller, from reverse lookup.', personal),
  field('street_address', 'string?', 'caller', 'Street address of the caller, from reverse lookup.', personal),
  field('city', 'string?', 'caller', 'City of the caller, from reverse lookup.'),
  field('state', 'string?', 'caller', 'State of the caller, from reverse lookup.'),
  field('zipcode', 'string?', 'caller', 'Zip code of the caller, from reverse lookup.', personal),
  field('phone_number', 'string?', 'caller', 'Mostly null; `dnis` and `ani` say what it was meant to say.', { ...dropped, personal: true }),
  field('phone_label', 'string?', 'caller', 'Label the account gave to the dialed number.'),
  field('recording', 'string?', 'caller', 'Present in every record; the API text does not say what it holds. Treated as a link to a recording.', personal),
  field('call_logging_id', 'null', 'system', 'Always null; not to be used.', dropped),
  field('super_id', 'string?', 'system', 'Id associated with the visitor.', dropped),
  field('pid', 'string', 'system', 'Unique id of the visitor.', v3),
  field('rank', 'integer-string', 'attribution', 'How surely the call belongs to the web session, 1 (surest) to 5.', { values: ['1', '2', '3', '4', '5'] }),
  field('channel', 'string', 'attribution', 'Channel the call came through: a tracked web visit or a call extension of an ad. The wire value for web visits may carry a product name.', { values: ['Tracker', 'Call Extension'], openValues: true }),
  field('activity_type_id', 'integer', 'attribution', 'Kind of tracking activity that made the number on the page change.', { values: [1, 2, 3, 4, 5, 6, 7, 8], valueMeanings: activityTypes }),
  field('activity_keyword', 'string?', 'attribution', 'Pattern of the URL tag that made the number change.'),
  field('incoming_keyword', 'string?', 'attribution', 'What in the visit matched the tracking activity.', visitor),
  field('search_term', 'string?', 'attribution', 'Words typed into the search engine before the number was shown.', visitor),
  field('url_tag', 'string', 'attribution', 'URL tag that made the number change, its wildcards filled in from the visit.', visitor),
  field('first_touch', 'url?', 'attribution', 'Full address of the page where the visitor was first attributed.', { v2: 'baseuri', visitorText: true }),
  field('first_touch_title', 'string?', 'attribution', 'Title of the first-touch page.', { ...v3, ...visitor }),
  field('first_touch_domain', 'string?', 'attribution', 'Domain of the first-touch page.', { ...v3, ...visitor }),
  field('landing_page', 'string?', 'attribution', 'Path of the first-touch page, without the domain.', { ...v3, ...visitor }),
  field('last_touch', 'url?', 'attribution', 'Full address of the page where the visitor was last attributed before calling.', visitor),
  field('last_touch_title', 'string?', 'attribution', 'Title of the last-touch page.', { ...v3, ...visitor }),
  field('last_touch_domain', 'string?', 'attribution', 'Domain of the last-touch page.', { ...v3, ...visitor }),
  field('last_touch_timestamp', 'datetime?', 'attribution', 'When the last touch took place.'),
  field('conversion_page', 'string?', 'attribution', 'Path of the last-touch page, without the domain.', { ...v3, ...visitor }),
  field('referrer', 'string', 'attribution', 'Domain the visitor came from; may be empty.', visitor),
  field('displayed_timestamp', 'datetime', 'attribution', 'When the visitor first saw a substituted number and tracking began.'),
  field('pool_id', 'integer', 'attribution', 'Id of the pool the number was taken from.'),
  field('domain_set_id', 'integer', 'attribution', 'Id of the set of domains the visit is tracked on.'),
  field('location_id', 'integer?', 'attribution', 'Id of the tracking location, where there is one.', v3),
  field('ppc_status', 'string', 'ads', 'How far the ad data of the call has been processed; the first two values may still change.', { ...v3, values: ppcStatuses }),
  field('ppc_account_id', 'string?', 'ads', 'Search-advertising account id.', { v2: 'ads_account_id', aliases: ['adwords_account_id'] }),
  field('ppc_campaign_id', 'string?', 'ads', 'Campaign id.', { v2: 'ads_campaign_id', aliases: ['adwords_campaign_id'] }),
  field('ppc_campaign', 'string?', 'ads', 'Campaign name.', v3),
  field('ppc_adgroup_id', 'string?', 'ads', 'Ad group id.', { v2: 'ads_adgroup_id', aliases: ['adwords_adgroup_id'] }),
  field('ppc_adgroup', 'string?', 'ads', 'Ad group name.', { ...v3, aliases: ['ppc_ad_group'] }),
  field('ppc_keyword_id', 'string?', 'ads', 'Keyword id.', { v2: 'ads_keyword_id', aliases: ['adwords_keyword_id'] }),
  field('ppc_keywords', 'string?', 'ads', 'Keyword text.', v3),
  field('ppc_match_type', 'string?', 'ads', 'Match type of the keyword; not known for legacy call extensions.', v3),
  field('ppc_ad_id', 'string?', 'ads', 'Ad id.', v3),
  field('ppc_gclid', 'string?', 'ads', 'Click id of the ad click.', v3),
  field('vt_keyword', 'string?', 'ads', 'Click parameter: keyword.', visitor),
  field('vt_matchtype', 'string?', 'ads', 'Click parameter: match type.', visitor),
  field('vt_network', 'string?', 'ads', 'Click parameter: network the ad was shown on.', visitor),
  field('vt_device', 'string?', 'ads', 'Click parameter: kind of device.', visitor),
  field('vt_devicemodel', 'string?', 'ads', 'Click parameter: model of the device.', visitor),
  field('vt_creative', 'string?', 'ads', 'Click parameter: creative id.', visitor),
  field('vt_placement', 'string?', 'ads', 'Click parameter: placement.', visitor),
  field('vt_target', 'string?', 'ads', 'Click parameter: target.', visitor),
  field('vt_param1', 'string?', 'ads', 'Click parameter: first free parameter.', visitor),
  field('vt_param2', 'string?', 'ads', 'Click parameter: second free parameter.', visitor),
  field('vt_random', 'string?', 'ads', 'Click parameter: random number.', visitor),
  field('vt_aceid', 'string?', 'ads', 'Click parameter: experiment id.', visitor),
  field('vt_adposition', 'string?', 'ads', 'Click parameter: position of the ad.', visitor),
  field('vt_adtype', 'string?', 'ads', 'Click parameter: type of the ad.', visitor),
  field('vt_ads_producttargetid', 'string?', 'ads', 'Present in every record; the API text does not say what it holds. By its name a product target id.', visitor),
  field('ip_address', 'string', 'device', 'IP address of the visitor.', personal),
  field('os', 'string?', 'device', 'Operating system of the visitor.', v3),
  field('os_version', 'string?', 'device', 'Version of the operating system.', v3),
  field('browser', 'string?', 'device', 'Browser of the visitor.', v3),
  field('browser_version', 'string?', 'device', 'Version of the browser.', v3),
  field('custom_id', 'string?', 'custom', 'Value of `_st_custom_id`, set by the website of the visit.', { ...v3, ...visitor }),
  field('custom_value', 'string?', 'custom', 'Value of `_st_custom_value`, set by the website of the visit.', { ...v3, ...visitor }),
];
