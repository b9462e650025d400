// Made by `pnpm generate` from packages/core/src/record/fields.ts. Do not edit.
import type { Moment } from '../../time/moment.ts';

/** The documented values of `ppc_status`; others may be added. */
export type PpcStatus =
  | 'Not Processed'
  | 'Waiting For Keyword'
  | 'Processed'
  | 'Desktop'
  | 'No Match'
  | 'N/A';

/** Version-neutral name of a field. */
export type FieldName =
  | 'sid'
  | 'acct_id'
  | 'date_added'
  | 'smart_minutes'
  | 'talk_minutes'
  | 'talk_start'
  | 'talk_end'
  | 'call_duration'
  | 'dnis'
  | 'ani'
  | 'first_name'
  | 'last_name'
  | 'street_address'
  | 'city'
  | 'state'
  | 'zipcode'
  | 'phone_number'
  | 'phone_label'
  | 'recording'
  | 'call_logging_id'
  | 'super_id'
  | 'pid'
  | 'rank'
  | 'channel'
  | 'activity_type_id'
  | 'activity_keyword'
  | 'incoming_keyword'
  | 'search_term'
  | 'url_tag'
  | 'first_touch'
  | 'first_touch_title'
  | 'first_touch_domain'
  | 'landing_page'
  | 'last_touch'
  | 'last_touch_title'
  | 'last_touch_domain'
  | 'last_touch_timestamp'
  | 'conversion_page'
  | 'referrer'
  | 'displayed_timestamp'
  | 'pool_id'
  | 'domain_set_id'
  | 'location_id'
  | 'ppc_status'
  | 'ppc_account_id'
  | 'ppc_campaign_id'
  | 'ppc_campaign'
  | 'ppc_adgroup_id'
  | 'ppc_adgroup'
  | 'ppc_keyword_id'
  | 'ppc_keywords'
  | 'ppc_match_type'
  | 'ppc_ad_id'
  | 'ppc_gclid'
  | 'vt_keyword'
  | 'vt_matchtype'
  | 'vt_network'
  | 'vt_device'
  | 'vt_devicemodel'
  | 'vt_creative'
  | 'vt_placement'
  | 'vt_target'
  | 'vt_param1'
  | 'vt_param2'
  | 'vt_random'
  | 'vt_aceid'
  | 'vt_adposition'
  | 'vt_adtype'
  | 'vt_ads_producttargetid'
  | 'ip_address'
  | 'os'
  | 'os_version'
  | 'browser'
  | 'browser_version'
  | 'custom_id'
  | 'custom_value';

/** A version-neutral call record: v3 names, values as sent. Fields that only one version has are optional. */
export type Call = {
  /** Unique id of the call; the key of the record. */
  readonly sid: string;
  /** Account the call belongs to. */
  readonly acct_id: string;
  /** When the call was made. */
  readonly date_added: string;
  /** Minutes, in tenths, that the call was on the system without being connected to a second party. */
  readonly smart_minutes: string;
  /** Minutes, in tenths, that the caller was connected to a second party. */
  readonly talk_minutes: string;
  /** When the second party was connected. */
  readonly talk_start: string;
  /** When the second party was disconnected. */
  readonly talk_end: string;
  /** Length of the call in whole minutes, rounded up. */
  readonly call_duration?: string;
  /** Number that the caller dialed. */
  readonly dnis: string;
  /** Caller ID: the number the caller called from. */
  readonly ani: string;
  /** First name of the caller, when reverse lookup is enabled and found one. */
  readonly first_name: string | null;
  /** Last name of the caller, from reverse lookup. */
  readonly last_name: string | null;
  /** Street address of the caller, from reverse lookup. */
  readonly street_address: string | null;
  /** City of the caller, from reverse lookup. */
  readonly city: string | null;
  /** State of the caller, from reverse lookup. */
  readonly state: string | null;
  /** Zip code of the caller, from reverse lookup. */
  readonly zipcode: string | null;
  /** @deprecated Mostly null; use `dnis` and `ani` instead. */
  readonly phone_number?: string | null;
  /** Label that the account gave to the dialed number. */
  readonly phone_label: string | null;
  /** Present in every record; the API does not say what it holds. Treated as a link to a recording. */
  readonly recording: string | null;
  /** @deprecated Always null; must not be used. */
  readonly call_logging_id?: null;
  /** @deprecated Id associated with the visitor. */
  readonly super_id?: string | null;
  /** Unique id of the visitor. */
  readonly pid?: string;
  /** How confidently the call is matched to a web session, from 1 (most confident) to 5. One of 1, 2, 3, 4, 5. */
  readonly rank: string;
  /** Channel the call came through: a tracked web visit or a call extension of an ad. For web visits the value may contain a product name. */
  readonly channel: string;
  /** Kind of tracking activity that made the number on the page change. One of 1, 2, 3, 4, 5, 6, 7, 8. */
  readonly activity_type_id: number;
  /** Pattern of the URL tag that made the number change. */
  readonly activity_keyword: string | null;
  /** Part of the visit that matched the tracking activity. */
  readonly incoming_keyword: string | null;
  /** Search string that led to the number being shown on the website. */
  readonly search_term: string | null;
  /** URL tag that made the number change, with its wildcards filled in from the visit. */
  readonly url_tag: string;
  /** Full URL of the page where the visitor was first attributed. */
  readonly first_touch: string | null;
  /** Title of the first-touch page. */
  readonly first_touch_title?: string | null;
  /** Domain of the first-touch page. */
  readonly first_touch_domain?: string | null;
  /** Path of the first-touch page, without the domain. */
  readonly landing_page?: string | null;
  /** Full URL of the page where the visitor was last attributed before calling. */
  readonly last_touch: string | null;
  /** Title of the last-touch page. */
  readonly last_touch_title?: string | null;
  /** Domain of the last-touch page. */
  readonly last_touch_domain?: string | null;
  /** When the last touch happened. */
  readonly last_touch_timestamp: string | null;
  /** Path of the last-touch page, without the domain. */
  readonly conversion_page?: string | null;
  /** Domain the visitor came from; may be empty. */
  readonly referrer: string;
  /** When the visitor first saw a substituted number and tracking began. */
  readonly displayed_timestamp: string;
  /** Id of the number pool that the number came from. */
  readonly pool_id: number;
  /** Id of the set of domains that the visit is tracked on. */
  readonly domain_set_id: number;
  /** Id of the tracking location, if there is one. */
  readonly location_id?: number | null;
  /** How far the ad data of the call has been processed; the first two values may still change. One of Not Processed, Waiting For Keyword, Processed, Desktop, No Match, N/A. */
  readonly ppc_status?: PpcStatus | (string & {});
  /** Search-advertising account id. */
  readonly ppc_account_id: string | null;
  /** Campaign id. */
  readonly ppc_campaign_id: string | null;
  /** Campaign name. */
  readonly ppc_campaign?: string | null;
  /** Ad group id. */
  readonly ppc_adgroup_id: string | null;
  /** Ad group name. */
  readonly ppc_adgroup?: string | null;
  /** Keyword id. */
  readonly ppc_keyword_id: string | null;
  /** Keyword text. */
  readonly ppc_keywords?: string | null;
  /** Match type of the keyword; unavailable for legacy call extensions. */
  readonly ppc_match_type?: string | null;
  /** Ad id. */
  readonly ppc_ad_id?: string | null;
  /** Click id of the ad click. */
  readonly ppc_gclid?: string | null;
  /** Click parameter: keyword. */
  readonly vt_keyword: string | null;
  /** Click parameter: match type. */
  readonly vt_matchtype: string | null;
  /** Click parameter: network the ad was shown on. */
  readonly vt_network: string | null;
  /** Click parameter: kind of device. */
  readonly vt_device: string | null;
  /** Click parameter: model of the device. */
  readonly vt_devicemodel: string | null;
  /** Click parameter: creative id. */
  readonly vt_creative: string | null;
  /** Click parameter: placement. */
  readonly vt_placement: string | null;
  /** Click parameter: target. */
  readonly vt_target: string | null;
  /** Click parameter: first free parameter. */
  readonly vt_param1: string | null;
  /** Click parameter: second free parameter. */
  readonly vt_param2: string | null;
  /** Click parameter: random number. */
  readonly vt_random: string | null;
  /** Click parameter: experiment id. */
  readonly vt_aceid: string | null;
  /** Click parameter: position of the ad. */
  readonly vt_adposition: string | null;
  /** Click parameter: type of the ad. */
  readonly vt_adtype: string | null;
  /** Present in every record; the API does not say what it holds. Judging by its name, a product target id. */
  readonly vt_ads_producttargetid: string | null;
  /** IP address of the visitor. */
  readonly ip_address: string;
  /** Operating system of the visitor. */
  readonly os?: string | null;
  /** Version of the operating system. */
  readonly os_version?: string | null;
  /** Browser of the visitor. */
  readonly browser?: string | null;
  /** Version of the browser. */
  readonly browser_version?: string | null;
  /** Value of `_st_custom_id`, set by the website of the visit. */
  readonly custom_id?: string | null;
  /** Value of `_st_custom_value`, set by the website of the visit. */
  readonly custom_value?: string | null;
};

/** A call with numbers instead of numeric strings and instants instead of naive times; made by `readCall`. */
export type CallView = {
  /** Unique id of the call; the key of the record. */
  readonly sid: string;
  /** Account the call belongs to. */
  readonly acct_id: string;
  /** When the call was made. */
  readonly date_added: Moment | null;
  /** Minutes, in tenths, that the call was on the system without being connected to a second party. */
  readonly smart_minutes: number | null;
  /** Minutes, in tenths, that the caller was connected to a second party. */
  readonly talk_minutes: number | null;
  /** When the second party was connected. */
  readonly talk_start: Moment | null;
  /** When the second party was disconnected. */
  readonly talk_end: Moment | null;
  /** Length of the call in whole minutes, rounded up. */
  readonly call_duration?: number | null;
  /** Number that the caller dialed. */
  readonly dnis: string;
  /** Caller ID: the number the caller called from. */
  readonly ani: string;
  /** First name of the caller, when reverse lookup is enabled and found one. */
  readonly first_name: string | null;
  /** Last name of the caller, from reverse lookup. */
  readonly last_name: string | null;
  /** Street address of the caller, from reverse lookup. */
  readonly street_address: string | null;
  /** City of the caller, from reverse lookup. */
  readonly city: string | null;
  /** State of the caller, from reverse lookup. */
  readonly state: string | null;
  /** Zip code of the caller, from reverse lookup. */
  readonly zipcode: string | null;
  /** @deprecated Mostly null; use `dnis` and `ani` instead. */
  readonly phone_number?: string | null;
  /** Label that the account gave to the dialed number. */
  readonly phone_label: string | null;
  /** Present in every record; the API does not say what it holds. Treated as a link to a recording. */
  readonly recording: string | null;
  /** @deprecated Always null; must not be used. */
  readonly call_logging_id?: null;
  /** @deprecated Id associated with the visitor. */
  readonly super_id?: string | null;
  /** Unique id of the visitor. */
  readonly pid?: string;
  /** How confidently the call is matched to a web session, from 1 (most confident) to 5. One of 1, 2, 3, 4, 5. */
  readonly rank: number | null;
  /** Channel the call came through: a tracked web visit or a call extension of an ad. For web visits the value may contain a product name. */
  readonly channel: string;
  /** Kind of tracking activity that made the number on the page change. One of 1, 2, 3, 4, 5, 6, 7, 8. */
  readonly activity_type_id: number;
  /** Pattern of the URL tag that made the number change. */
  readonly activity_keyword: string | null;
  /** Part of the visit that matched the tracking activity. */
  readonly incoming_keyword: string | null;
  /** Search string that led to the number being shown on the website. */
  readonly search_term: string | null;
  /** URL tag that made the number change, with its wildcards filled in from the visit. */
  readonly url_tag: string;
  /** Full URL of the page where the visitor was first attributed. */
  readonly first_touch: string | null;
  /** Title of the first-touch page. */
  readonly first_touch_title?: string | null;
  /** Domain of the first-touch page. */
  readonly first_touch_domain?: string | null;
  /** Path of the first-touch page, without the domain. */
  readonly landing_page?: string | null;
  /** Full URL of the page where the visitor was last attributed before calling. */
  readonly last_touch: string | null;
  /** Title of the last-touch page. */
  readonly last_touch_title?: string | null;
  /** Domain of the last-touch page. */
  readonly last_touch_domain?: string | null;
  /** When the last touch happened. */
  readonly last_touch_timestamp: Moment | null;
  /** Path of the last-touch page, without the domain. */
  readonly conversion_page?: string | null;
  /** Domain the visitor came from; may be empty. */
  readonly referrer: string;
  /** When the visitor first saw a substituted number and tracking began. */
  readonly displayed_timestamp: Moment | null;
  /** Id of the number pool that the number came from. */
  readonly pool_id: number;
  /** Id of the set of domains that the visit is tracked on. */
  readonly domain_set_id: number;
  /** Id of the tracking location, if there is one. */
  readonly location_id?: number | null;
  /** How far the ad data of the call has been processed; the first two values may still change. One of Not Processed, Waiting For Keyword, Processed, Desktop, No Match, N/A. */
  readonly ppc_status?: PpcStatus | (string & {});
  /** Search-advertising account id. */
  readonly ppc_account_id: string | null;
  /** Campaign id. */
  readonly ppc_campaign_id: string | null;
  /** Campaign name. */
  readonly ppc_campaign?: string | null;
  /** Ad group id. */
  readonly ppc_adgroup_id: string | null;
  /** Ad group name. */
  readonly ppc_adgroup?: string | null;
  /** Keyword id. */
  readonly ppc_keyword_id: string | null;
  /** Keyword text. */
  readonly ppc_keywords?: string | null;
  /** Match type of the keyword; unavailable for legacy call extensions. */
  readonly ppc_match_type?: string | null;
  /** Ad id. */
  readonly ppc_ad_id?: string | null;
  /** Click id of the ad click. */
  readonly ppc_gclid?: string | null;
  /** Click parameter: keyword. */
  readonly vt_keyword: string | null;
  /** Click parameter: match type. */
  readonly vt_matchtype: string | null;
  /** Click parameter: network the ad was shown on. */
  readonly vt_network: string | null;
  /** Click parameter: kind of device. */
  readonly vt_device: string | null;
  /** Click parameter: model of the device. */
  readonly vt_devicemodel: string | null;
  /** Click parameter: creative id. */
  readonly vt_creative: string | null;
  /** Click parameter: placement. */
  readonly vt_placement: string | null;
  /** Click parameter: target. */
  readonly vt_target: string | null;
  /** Click parameter: first free parameter. */
  readonly vt_param1: string | null;
  /** Click parameter: second free parameter. */
  readonly vt_param2: string | null;
  /** Click parameter: random number. */
  readonly vt_random: string | null;
  /** Click parameter: experiment id. */
  readonly vt_aceid: string | null;
  /** Click parameter: position of the ad. */
  readonly vt_adposition: string | null;
  /** Click parameter: type of the ad. */
  readonly vt_adtype: string | null;
  /** Present in every record; the API does not say what it holds. Judging by its name, a product target id. */
  readonly vt_ads_producttargetid: string | null;
  /** IP address of the visitor. */
  readonly ip_address: string;
  /** Operating system of the visitor. */
  readonly os?: string | null;
  /** Version of the operating system. */
  readonly os_version?: string | null;
  /** Browser of the visitor. */
  readonly browser?: string | null;
  /** Version of the browser. */
  readonly browser_version?: string | null;
  /** Value of `_st_custom_id`, set by the website of the visit. */
  readonly custom_id?: string | null;
  /** Value of `_st_custom_value`, set by the website of the visit. */
  readonly custom_value?: string | null;
  /** Fields that have a value, but not one that the table allows. */
  readonly unreadable: readonly FieldName[];
};

/** A call record as v2 sends it. */
export type CallV2 = {
  /** Unique id of the call; the key of the record. */
  readonly sid: string;
  /** Account the call belongs to. */
  readonly acct_id: string;
  /** When the call was made. */
  readonly date_added: string;
  /** Minutes, in tenths, that the call was on the system without being connected to a second party. */
  readonly smart_minutes: string;
  /** Minutes, in tenths, that the caller was connected to a second party. */
  readonly talk_minutes: string;
  /** When the second party was connected. */
  readonly talk_start: string;
  /** When the second party was disconnected. */
  readonly talk_end: string;
  /** Number that the caller dialed. */
  readonly dnis: string;
  /** Caller ID: the number the caller called from. */
  readonly ani: string;
  /** First name of the caller, when reverse lookup is enabled and found one. */
  readonly first_name: string | null;
  /** Last name of the caller, from reverse lookup. */
  readonly last_name: string | null;
  /** Street address of the caller, from reverse lookup. */
  readonly street_address: string | null;
  /** City of the caller, from reverse lookup. */
  readonly city: string | null;
  /** State of the caller, from reverse lookup. */
  readonly state: string | null;
  /** Zip code of the caller, from reverse lookup. */
  readonly zipcode: string | null;
  /** @deprecated Mostly null; use `dnis` and `ani` instead. */
  readonly phone_number: string | null;
  /** Label that the account gave to the dialed number. */
  readonly phone_label: string | null;
  /** Present in every record; the API does not say what it holds. Treated as a link to a recording. */
  readonly recording: string | null;
  /** @deprecated Always null; must not be used. */
  readonly call_logging_id: null;
  /** @deprecated Id associated with the visitor. */
  readonly super_id: string | null;
  /** How confidently the call is matched to a web session, from 1 (most confident) to 5. One of 1, 2, 3, 4, 5. */
  readonly rank: string;
  /** Channel the call came through: a tracked web visit or a call extension of an ad. For web visits the value may contain a product name. */
  readonly channel: string;
  /** Kind of tracking activity that made the number on the page change. One of 1, 2, 3, 4, 5, 6, 7, 8. */
  readonly activity_type_id: number;
  /** Pattern of the URL tag that made the number change. */
  readonly activity_keyword: string | null;
  /** Part of the visit that matched the tracking activity. */
  readonly incoming_keyword: string | null;
  /** Search string that led to the number being shown on the website. */
  readonly search_term: string | null;
  /** URL tag that made the number change, with its wildcards filled in from the visit. */
  readonly url_tag: string;
  /** Full URL of the page where the visitor was first attributed. */
  readonly baseuri: string | null;
  /** Full URL of the page where the visitor was last attributed before calling. */
  readonly last_touch: string | null;
  /** When the last touch happened. */
  readonly last_touch_timestamp: string | null;
  /** Domain the visitor came from; may be empty. */
  readonly referrer: string;
  /** When the visitor first saw a substituted number and tracking began. */
  readonly displayed_timestamp: string;
  /** Id of the number pool that the number came from. */
  readonly pool_id: number;
  /** Id of the set of domains that the visit is tracked on. */
  readonly domain_set_id: number;
  /** Search-advertising account id. */
  readonly ads_account_id: string | null;
  /** Campaign id. */
  readonly ads_campaign_id: string | null;
  /** Ad group id. */
  readonly ads_adgroup_id: string | null;
  /** Keyword id. */
  readonly ads_keyword_id: string | null;
  /** Click parameter: keyword. */
  readonly vt_keyword: string | null;
  /** Click parameter: match type. */
  readonly vt_matchtype: string | null;
  /** Click parameter: network the ad was shown on. */
  readonly vt_network: string | null;
  /** Click parameter: kind of device. */
  readonly vt_device: string | null;
  /** Click parameter: model of the device. */
  readonly vt_devicemodel: string | null;
  /** Click parameter: creative id. */
  readonly vt_creative: string | null;
  /** Click parameter: placement. */
  readonly vt_placement: string | null;
  /** Click parameter: target. */
  readonly vt_target: string | null;
  /** Click parameter: first free parameter. */
  readonly vt_param1: string | null;
  /** Click parameter: second free parameter. */
  readonly vt_param2: string | null;
  /** Click parameter: random number. */
  readonly vt_random: string | null;
  /** Click parameter: experiment id. */
  readonly vt_aceid: string | null;
  /** Click parameter: position of the ad. */
  readonly vt_adposition: string | null;
  /** Click parameter: type of the ad. */
  readonly vt_adtype: string | null;
  /** Present in every record; the API does not say what it holds. Judging by its name, a product target id. */
  readonly vt_ads_producttargetid: string | null;
  /** IP address of the visitor. */
  readonly ip_address: string;
};

/** A call record as v3 sends it. */
export type CallV3 = {
  /** Unique id of the call; the key of the record. */
  readonly sid: string;
  /** Account the call belongs to. */
  readonly acct_id: string;
  /** When the call was made. */
  readonly date_added: string;
  /** Minutes, in tenths, that the call was on the system without being connected to a second party. */
  readonly smart_minutes: string;
  /** Minutes, in tenths, that the caller was connected to a second party. */
  readonly talk_minutes: string;
  /** When the second party was connected. */
  readonly talk_start: string;
  /** When the second party was disconnected. */
  readonly talk_end: string;
  /** Length of the call in whole minutes, rounded up. */
  readonly call_duration: string;
  /** Number that the caller dialed. */
  readonly dnis: string;
  /** Caller ID: the number the caller called from. */
  readonly ani: string;
  /** First name of the caller, when reverse lookup is enabled and found one. */
  readonly first_name: string | null;
  /** Last name of the caller, from reverse lookup. */
  readonly last_name: string | null;
  /** Street address of the caller, from reverse lookup. */
  readonly street_address: string | null;
  /** City of the caller, from reverse lookup. */
  readonly city: string | null;
  /** State of the caller, from reverse lookup. */
  readonly state: string | null;
  /** Zip code of the caller, from reverse lookup. */
  readonly zipcode: string | null;
  /** Label that the account gave to the dialed number. */
  readonly phone_label: string | null;
  /** Present in every record; the API does not say what it holds. Treated as a link to a recording. */
  readonly recording: string | null;
  /** Unique id of the visitor. */
  readonly pid: string;
  /** How confidently the call is matched to a web session, from 1 (most confident) to 5. One of 1, 2, 3, 4, 5. */
  readonly rank: string;
  /** Channel the call came through: a tracked web visit or a call extension of an ad. For web visits the value may contain a product name. */
  readonly channel: string;
  /** Kind of tracking activity that made the number on the page change. One of 1, 2, 3, 4, 5, 6, 7, 8. */
  readonly activity_type_id: number;
  /** Pattern of the URL tag that made the number change. */
  readonly activity_keyword: string | null;
  /** Part of the visit that matched the tracking activity. */
  readonly incoming_keyword: string | null;
  /** Search string that led to the number being shown on the website. */
  readonly search_term: string | null;
  /** URL tag that made the number change, with its wildcards filled in from the visit. */
  readonly url_tag: string;
  /** Full URL of the page where the visitor was first attributed. */
  readonly first_touch: string | null;
  /** Title of the first-touch page. */
  readonly first_touch_title: string | null;
  /** Domain of the first-touch page. */
  readonly first_touch_domain: string | null;
  /** Path of the first-touch page, without the domain. */
  readonly landing_page: string | null;
  /** Full URL of the page where the visitor was last attributed before calling. */
  readonly last_touch: string | null;
  /** Title of the last-touch page. */
  readonly last_touch_title: string | null;
  /** Domain of the last-touch page. */
  readonly last_touch_domain: string | null;
  /** When the last touch happened. */
  readonly last_touch_timestamp: string | null;
  /** Path of the last-touch page, without the domain. */
  readonly conversion_page: string | null;
  /** Domain the visitor came from; may be empty. */
  readonly referrer: string;
  /** When the visitor first saw a substituted number and tracking began. */
  readonly displayed_timestamp: string;
  /** Id of the number pool that the number came from. */
  readonly pool_id: number;
  /** Id of the set of domains that the visit is tracked on. */
  readonly domain_set_id: number;
  /** Id of the tracking location, if there is one. */
  readonly location_id: number | null;
  /** How far the ad data of the call has been processed; the first two values may still change. One of Not Processed, Waiting For Keyword, Processed, Desktop, No Match, N/A. */
  readonly ppc_status: PpcStatus | (string & {});
  /** Search-advertising account id. */
  readonly ppc_account_id: string | null;
  /** Campaign id. */
  readonly ppc_campaign_id: string | null;
  /** Campaign name. */
  readonly ppc_campaign: string | null;
  /** Ad group id. */
  readonly ppc_adgroup_id: string | null;
  /** Ad group name. */
  readonly ppc_adgroup: string | null;
  /** Keyword id. */
  readonly ppc_keyword_id: string | null;
  /** Keyword text. */
  readonly ppc_keywords: string | null;
  /** Match type of the keyword; unavailable for legacy call extensions. */
  readonly ppc_match_type: string | null;
  /** Ad id. */
  readonly ppc_ad_id: string | null;
  /** Click id of the ad click. */
  readonly ppc_gclid: string | null;
  /** Click parameter: keyword. */
  readonly vt_keyword: string | null;
  /** Click parameter: match type. */
  readonly vt_matchtype: string | null;
  /** Click parameter: network the ad was shown on. */
  readonly vt_network: string | null;
  /** Click parameter: kind of device. */
  readonly vt_device: string | null;
  /** Click parameter: model of the device. */
  readonly vt_devicemodel: string | null;
  /** Click parameter: creative id. */
  readonly vt_creative: string | null;
  /** Click parameter: placement. */
  readonly vt_placement: string | null;
  /** Click parameter: target. */
  readonly vt_target: string | null;
  /** Click parameter: first free parameter. */
  readonly vt_param1: string | null;
  /** Click parameter: second free parameter. */
  readonly vt_param2: string | null;
  /** Click parameter: random number. */
  readonly vt_random: string | null;
  /** Click parameter: experiment id. */
  readonly vt_aceid: string | null;
  /** Click parameter: position of the ad. */
  readonly vt_adposition: string | null;
  /** Click parameter: type of the ad. */
  readonly vt_adtype: string | null;
  /** Present in every record; the API does not say what it holds. Judging by its name, a product target id. */
  readonly vt_ads_producttargetid: string | null;
  /** IP address of the visitor. */
  readonly ip_address: string;
  /** Operating system of the visitor. */
  readonly os: string | null;
  /** Version of the operating system. */
  readonly os_version: string | null;
  /** Browser of the visitor. */
  readonly browser: string | null;
  /** Version of the browser. */
  readonly browser_version: string | null;
  /** Value of `_st_custom_id`, set by the website of the visit. */
  readonly custom_id: string | null;
  /** Value of `_st_custom_value`, set by the website of the visit. */
  readonly custom_value: string | null;
};
