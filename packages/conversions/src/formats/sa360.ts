import type { SheetFormat } from '../sheet-format.ts';
import {
  clickIdColumn,
  constantColumn,
  isoUtc,
  nameColumn,
  usualAcceptance,
  valueColumn,
} from './columns.ts';

/**
 * Search Ads 360, conversions bulksheet: attributed by click id, identified by the session id of
 * the call.
 */
export const sa360: SheetFormat = {
  name: 'sa360',
  title: 'Search Ads 360, conversions bulksheet',
  delimiter: ',',
  accepts: {
    ...usualAcceptance,
    matchBy: ['gclid'],
    findsBy: null,
    takesConsent: false,
  },
  needsName: true,
  notes: [
    'Upload it on the Conversions tab, not under Bulk actions.',
    'Times are in UTC, which no setting of the engine or the advertiser account can shift.',
  ],
  columns: () => [
    constantColumn('Row type', 'Conversion'),
    constantColumn('Action', 'Add'),
    constantColumn('Status', 'Active'),
    clickIdColumn('Click ID', 'gclid'),
    {
      title: 'Advertiser Conversion ID',
      cell: ({ key }) => key,
      pattern: /^\S{1,100}$/,
      isKey: true,
    },
    {
      title: 'Conversion timestamp',
      cell: ({ at }) => isoUtc(at),
      pattern: /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/,
    },
    valueColumn('Conversion revenue'),
    nameColumn('Floodlight activity name'),
  ],
};
