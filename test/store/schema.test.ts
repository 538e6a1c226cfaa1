/** The schema that the SQL files make, as a snapshot that every change of them has to renew (`npx vitest run test/store/schema -u`). */
import { expect, onTestFinished, test } from 'vitest';
import { onServer, queried } from '../kit/servers/backends.ts';

/** A line for everything in our schemas, in one order, as PostgreSQL itself writes it. */
const SCHEMA = `
  SELECT n.nspname || '.' || c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
      || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END
      || CASE a.attidentity WHEN '' THEN '' WHEN 'a' THEN ' identity' ELSE ' identity by default' END
      || coalesce(CASE a.attgenerated WHEN '' THEN ' default ' ELSE ' generated ' END || pg_get_expr(d.adbin, d.adrelid), '') AS line
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE n.nspname IN ('platen', 'lanes') AND c.relkind NOT IN ('i', 'S') AND a.attnum > 0 AND NOT a.attisdropped
  UNION ALL SELECT n.nspname || '.' || c.relname || ' with ' || array_to_string(c.reloptions, ', ')
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname IN ('platen', 'lanes') AND c.reloptions IS NOT NULL
  UNION ALL SELECT 'sequence ' || s.seqrelid::regclass || ' ' || s.seqtypid::regtype || ' '
      || concat_ws(' ', s.seqstart, s.seqincrement, s.seqmin, s.seqmax, s.seqcache, s.seqcycle)
    FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid WHERE c.relnamespace::regnamespace::text IN ('platen', 'lanes')
  UNION ALL SELECT conrelid::regclass || ' constraint ' || conname || ' ' || pg_get_constraintdef(oid)
    FROM pg_constraint WHERE connamespace::regnamespace::text IN ('platen', 'lanes') AND contype <> 'n'
  UNION ALL SELECT pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class c ON c.oid = indrelid
    WHERE c.relnamespace::regnamespace::text IN ('platen', 'lanes')
  UNION ALL SELECT pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
    WHERE c.relnamespace::regnamespace::text IN ('platen', 'lanes') AND NOT t.tgisinternal
  UNION ALL SELECT 'function ' || pronamespace::regnamespace || '.' || proname || '('
      || pg_get_function_arguments(oid) || ') returns ' || pg_get_function_result(oid) || ' ' || md5(pg_get_functiondef(oid))
    FROM pg_proc WHERE pronamespace::regnamespace::text IN ('platen', 'lanes')
  ORDER BY 1`;

test('is what the snapshot says', async () => {
  const backend = await onServer().open({ migrated: true });
  onTestFinished(() => backend.close());
  const lines = (await queried(backend.database, SCHEMA)).map(({ line }) => String(line));
  expect(lines).toContainEqual(expect.stringContaining('platen.jobs constraint jobs_pkey PRIMARY KEY (id)'));
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('schema.txt');
});
