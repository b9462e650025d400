import type { CallsError, Version } from '@call-attribution/core';
import type { CopyState } from './mirror.ts';

/** What went wrong with a tool call. */
export type Problem =
  | {
      readonly code: 'unknown_tool';
      readonly name: string;
      readonly nearest: string | undefined;
      readonly tools: readonly string[];
    }
  | { readonly code: 'two_periods' }
  | { readonly code: 'no_call'; readonly sid: string }
  | { readonly code: 'not_an_object'; readonly tool: string; readonly accepted: readonly string[] }
  | {
      readonly code: 'unknown_argument';
      readonly name: string;
      readonly nearest: string | undefined;
      readonly tool: string;
      readonly accepted: readonly string[];
    }
  | {
      readonly code: 'invalid_argument';
      readonly path: string;
      readonly what: string;
      readonly hint?: string;
      readonly tool: string;
      readonly accepted: readonly string[];
    }
  | {
      readonly code: 'invalid_where';
      readonly argument: string;
      readonly message: string;
      readonly frame: string;
      readonly corrected: string | undefined;
    }
  | { readonly code: 'invalid_question'; readonly message: string }
  | { readonly code: 'masked_field'; readonly field: string }
  | { readonly code: 'needs_mirror'; readonly what: string }
  | { readonly code: 'mirror_not_ready'; readonly what: string; readonly state: CopyState }
  | { readonly code: 'copy_failed'; readonly reason: string; readonly mayPass: boolean }
  | {
      readonly code: 'unknown_name';
      readonly what: string;
      readonly name: string;
      readonly nearest: string | undefined;
      readonly known: readonly string[];
    }
  | { readonly code: 'group_of_fields'; readonly name: string; readonly known: readonly string[] }
  | {
      readonly code: 'empty_range';
      readonly start: string;
      readonly end: string;
      readonly swapped: string | undefined;
    }
  | {
      readonly code: 'invalid_time';
      readonly argument: string;
      readonly text: string;
      readonly hasZone: boolean;
      readonly nearest: string | undefined;
    }
  | { readonly code: 'unknown_zone'; readonly zone: string; readonly nearest: string | undefined }
  | {
      readonly code: 'unknown_field';
      readonly name: string;
      readonly nearest: string | undefined;
      readonly groups: readonly string[];
    }
  | {
      readonly code: 'field_of_other_version';
      readonly name: string;
      readonly version: Version;
      readonly groups: readonly string[];
    }
  | { readonly code: 'foreign_cursor' }
  | { readonly code: 'cursor_of_other_size'; readonly cursorRows: number; readonly rows: number }
  | { readonly code: 'missing_settings'; readonly problems: readonly string[] }
  | { readonly code: 'no_client'; readonly reason: string }
  | { readonly code: 'api_error'; readonly tool: string; readonly error: CallsError }
  | { readonly code: 'timed_out'; readonly tool: string; readonly seconds: number }
  | { readonly code: 'cancelled'; readonly tool: string }
  | { readonly code: 'custom_tool'; readonly tool: string; readonly reason: string }
  | { readonly code: 'unexpected'; readonly tool: string };
