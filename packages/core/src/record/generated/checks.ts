// Made by `pnpm generate` from packages/core/src/record/fields.ts. Do not edit.
import { isDateTime, isDateTimeTenths, isDecimalString, isIntegerString } from '../wire-forms.ts';

/** A record before it is checked. */
export interface Row {
  sid?: unknown;
  acct_id?: unknown;
  date_added?: unknown;
  smart_minutes?: unknown;
  talk_minutes?: unknown;
  talk_start?: unknown;
  talk_end?: unknown;
  call_duration?: unknown;
  dnis?: unknown;
  ani?: unknown;
  first_name?: unknown;
  last_name?: unknown;
  street_address?: unknown;
  city?: unknown;
  state?: unknown;
  zipcode?: unknown;
  phone_number?: unknown;
  phone_label?: unknown;
  recording?: unknown;
  call_logging_id?: unknown;
  super_id?: unknown;
  pid?: unknown;
  rank?: unknown;
  channel?: unknown;
  activity_type_id?: unknown;
  activity_keyword?: unknown;
  incoming_keyword?: unknown;
  search_term?: unknown;
  url_tag?: unknown;
  first_touch?: unknown;
  baseuri?: unknown;
  first_touch_title?: unknown;
  first_touch_domain?: unknown;
  landing_page?: unknown;
  last_touch?: unknown;
  last_touch_title?: unknown;
  last_touch_domain?: unknown;
  last_touch_timestamp?: unknown;
  conversion_page?: unknown;
  referrer?: unknown;
  displayed_timestamp?: unknown;
  pool_id?: unknown;
  domain_set_id?: unknown;
  location_id?: unknown;
  ppc_status?: unknown;
  ppc_account_id?: unknown;
  ads_account_id?: unknown;
  ppc_campaign_id?: unknown;
  ads_campaign_id?: unknown;
  ppc_campaign?: unknown;
  ppc_adgroup_id?: unknown;
  ads_adgroup_id?: unknown;
  ppc_adgroup?: unknown;
  ppc_keyword_id?: unknown;
  ads_keyword_id?: unknown;
  ppc_keywords?: unknown;
  ppc_match_type?: unknown;
  ppc_ad_id?: unknown;
  ppc_gclid?: unknown;
  vt_keyword?: unknown;
  vt_matchtype?: unknown;
  vt_network?: unknown;
  vt_device?: unknown;
  vt_devicemodel?: unknown;
  vt_creative?: unknown;
  vt_placement?: unknown;
  vt_target?: unknown;
  vt_param1?: unknown;
  vt_param2?: unknown;
  vt_random?: unknown;
  vt_aceid?: unknown;
  vt_adposition?: unknown;
  vt_adtype?: unknown;
  vt_ads_producttargetid?: unknown;
  ip_address?: unknown;
  os?: unknown;
  os_version?: unknown;
  browser?: unknown;
  browser_version?: unknown;
  custom_id?: unknown;
  custom_value?: unknown;
}

/** Does every field that v2 documents hold what the table says? With static property reads, because it runs for every record. */
export function keepsTableV2(r: Row): boolean {
  return (
    (typeof r.sid === 'string') &&
    (typeof r.acct_id === 'string') &&
    (isDateTime(r.date_added)) &&
    (isDecimalString(r.smart_minutes)) &&
    (isDecimalString(r.talk_minutes)) &&
    (isDateTimeTenths(r.talk_start)) &&
    (isDateTimeTenths(r.talk_end)) &&
    (typeof r.dnis === 'string') &&
    (typeof r.ani === 'string') &&
    (r.first_name === null || typeof r.first_name === 'string') &&
    (r.last_name === null || typeof r.last_name === 'string') &&
    (r.street_address === null || typeof r.street_address === 'string') &&
    (r.city === null || typeof r.city === 'string') &&
    (r.state === null || typeof r.state === 'string') &&
    (r.zipcode === null || typeof r.zipcode === 'string') &&
    (r.phone_number === null || typeof r.phone_number === 'string') &&
    (r.phone_label === null || typeof r.phone_label === 'string') &&
    (r.recording === null || typeof r.recording === 'string') &&
    r.call_logging_id === null &&
    (r.super_id === null || typeof r.super_id === 'string') &&
    (r.rank === "1" || r.rank === "2" || r.rank === "3" || r.rank === "4" || r.rank === "5") &&
    (typeof r.channel === 'string') &&
    (r.activity_type_id === 1 || r.activity_type_id === 2 || r.activity_type_id === 3 || r.activity_type_id === 4 || r.activity_type_id === 5 || r.activity_type_id === 6 || r.activity_type_id === 7 || r.activity_type_id === 8) &&
    (r.activity_keyword === null || typeof r.activity_keyword === 'string') &&
    (r.incoming_keyword === null || typeof r.incoming_keyword === 'string') &&
    (r.search_term === null || typeof r.search_term === 'string') &&
    (typeof r.url_tag === 'string') &&
    (r.baseuri === null || typeof r.baseuri === 'string') &&
    (r.last_touch === null || typeof r.last_touch === 'string') &&
    (r.last_touch_timestamp === null || isDateTime(r.last_touch_timestamp)) &&
    (typeof r.referrer === 'string') &&
    (isDateTime(r.displayed_timestamp)) &&
    (Number.isSafeInteger(r.pool_id)) &&
    (Number.isSafeInteger(r.domain_set_id)) &&
    (r.ads_account_id === null || typeof r.ads_account_id === 'string') &&
    (r.ads_campaign_id === null || typeof r.ads_campaign_id === 'string') &&
    (r.ads_adgroup_id === null || typeof r.ads_adgroup_id === 'string') &&
    (r.ads_keyword_id === null || typeof r.ads_keyword_id === 'string') &&
    (r.vt_keyword === null || typeof r.vt_keyword === 'string') &&
    (r.vt_matchtype === null || typeof r.vt_matchtype === 'string') &&
    (r.vt_network === null || typeof r.vt_network === 'string') &&
    (r.vt_device === null || typeof r.vt_device === 'string') &&
    (r.vt_devicemodel === null || typeof r.vt_devicemodel === 'string') &&
    (r.vt_creative === null || typeof r.vt_creative === 'string') &&
    (r.vt_placement === null || typeof r.vt_placement === 'string') &&
    (r.vt_target === null || typeof r.vt_target === 'string') &&
    (r.vt_param1 === null || typeof r.vt_param1 === 'string') &&
    (r.vt_param2 === null || typeof r.vt_param2 === 'string') &&
    (r.vt_random === null || typeof r.vt_random === 'string') &&
    (r.vt_aceid === null || typeof r.vt_aceid === 'string') &&
    (r.vt_adposition === null || typeof r.vt_adposition === 'string') &&
    (r.vt_adtype === null || typeof r.vt_adtype === 'string') &&
    (r.vt_ads_producttargetid === null || typeof r.vt_ads_producttargetid === 'string') &&
    (typeof r.ip_address === 'string')
  );
}

/** Does every field that v3 documents hold what the table says? With static property reads, because it runs for every record. */
export function keepsTableV3(r: Row): boolean {
  return (
    (typeof r.sid === 'string') &&
    (typeof r.acct_id === 'string') &&
    (isDateTime(r.date_added)) &&
    (isDecimalString(r.smart_minutes)) &&
    (isDecimalString(r.talk_minutes)) &&
    (isDateTimeTenths(r.talk_start)) &&
    (isDateTimeTenths(r.talk_end)) &&
    (isIntegerString(r.call_duration)) &&
    (typeof r.dnis === 'string') &&
    (typeof r.ani === 'string') &&
    (r.first_name === null || typeof r.first_name === 'string') &&
    (r.last_name === null || typeof r.last_name === 'string') &&
    (r.street_address === null || typeof r.street_address === 'string') &&
    (r.city === null || typeof r.city === 'string') &&
    (r.state === null || typeof r.state === 'string') &&
    (r.zipcode === null || typeof r.zipcode === 'string') &&
    (r.phone_label === null || typeof r.phone_label === 'string') &&
    (r.recording === null || typeof r.recording === 'string') &&
    (typeof r.pid === 'string') &&
    (r.rank === "1" || r.rank === "2" || r.rank === "3" || r.rank === "4" || r.rank === "5") &&
    (typeof r.channel === 'string') &&
    (r.activity_type_id === 1 || r.activity_type_id === 2 || r.activity_type_id === 3 || r.activity_type_id === 4 || r.activity_type_id === 5 || r.activity_type_id === 6 || r.activity_type_id === 7 || r.activity_type_id === 8) &&
    (r.activity_keyword === null || typeof r.activity_keyword === 'string') &&
    (r.incoming_keyword === null || typeof r.incoming_keyword === 'string') &&
    (r.search_term === null || typeof r.search_term === 'string') &&
    (typeof r.url_tag === 'string') &&
    (r.first_touch === null || typeof r.first_touch === 'string') &&
    (r.first_touch_title === null || typeof r.first_touch_title === 'string') &&
    (r.first_touch_domain === null || typeof r.first_touch_domain === 'string') &&
    (r.landing_page === null || typeof r.landing_page === 'string') &&
    (r.last_touch === null || typeof r.last_touch === 'string') &&
    (r.last_touch_title === null || typeof r.last_touch_title === 'string') &&
    (r.last_touch_domain === null || typeof r.last_touch_domain === 'string') &&
    (r.last_touch_timestamp === null || isDateTime(r.last_touch_timestamp)) &&
    (r.conversion_page === null || typeof r.conversion_page === 'string') &&
    (typeof r.referrer === 'string') &&
    (isDateTime(r.displayed_timestamp)) &&
    (Number.isSafeInteger(r.pool_id)) &&
    (Number.isSafeInteger(r.domain_set_id)) &&
    (r.location_id === null || Number.isSafeInteger(r.location_id)) &&
    (r.ppc_status === "Not Processed" || r.ppc_status === "Waiting For Keyword" || r.ppc_status === "Processed" || r.ppc_status === "Desktop" || r.ppc_status === "No Match" || r.ppc_status === "N/A") &&
    (r.ppc_account_id === null || typeof r.ppc_account_id === 'string') &&
    (r.ppc_campaign_id === null || typeof r.ppc_campaign_id === 'string') &&
    (r.ppc_campaign === null || typeof r.ppc_campaign === 'string') &&
    (r.ppc_adgroup_id === null || typeof r.ppc_adgroup_id === 'string') &&
    (r.ppc_adgroup === null || typeof r.ppc_adgroup === 'string') &&
    (r.ppc_keyword_id === null || typeof r.ppc_keyword_id === 'string') &&
    (r.ppc_keywords === null || typeof r.ppc_keywords === 'string') &&
    (r.ppc_match_type === null || typeof r.ppc_match_type === 'string') &&
    (r.ppc_ad_id === null || typeof r.ppc_ad_id === 'string') &&
    (r.ppc_gclid === null || typeof r.ppc_gclid === 'string') &&
    (r.vt_keyword === null || typeof r.vt_keyword === 'string') &&
    (r.vt_matchtype === null || typeof r.vt_matchtype === 'string') &&
    (r.vt_network === null || typeof r.vt_network === 'string') &&
    (r.vt_device === null || typeof r.vt_device === 'string') &&
    (r.vt_devicemodel === null || typeof r.vt_devicemodel === 'string') &&
    (r.vt_creative === null || typeof r.vt_creative === 'string') &&
    (r.vt_placement === null || typeof r.vt_placement === 'string') &&
    (r.vt_target === null || typeof r.vt_target === 'string') &&
    (r.vt_param1 === null || typeof r.vt_param1 === 'string') &&
    (r.vt_param2 === null || typeof r.vt_param2 === 'string') &&
    (r.vt_random === null || typeof r.vt_random === 'string') &&
    (r.vt_aceid === null || typeof r.vt_aceid === 'string') &&
    (r.vt_adposition === null || typeof r.vt_adposition === 'string') &&
    (r.vt_adtype === null || typeof r.vt_adtype === 'string') &&
    (r.vt_ads_producttargetid === null || typeof r.vt_ads_producttargetid === 'string') &&
    (typeof r.ip_address === 'string') &&
    (r.os === null || typeof r.os === 'string') &&
    (r.os_version === null || typeof r.os_version === 'string') &&
    (r.browser === null || typeof r.browser === 'string') &&
    (r.browser_version === null || typeof r.browser_version === 'string') &&
    (r.custom_id === null || typeof r.custom_id === 'string') &&
    (r.custom_value === null || typeof r.custom_value === 'string')
  );
}
