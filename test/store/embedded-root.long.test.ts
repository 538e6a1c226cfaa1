import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nobody, nobodyCanRun } from '../kit/programs/ordinary-user.ts';
import { freshDirectory, gone, startParent, useParents } from '../kit/servers/embedded-parents.ts';

const root = process.getuid?.() === 0;
useParents();

describe.runIf(root)('the embedded PostgreSQL started by root', () => {
  it("runs as an account of Platen's own, so that no other program reaches its files", async () => {
    const { answer } = await startParent(freshDirectory());
    expect(statSync(`/proc/${answer.pid}`).uid).toBe(Number(execFileSync('id', ['-u', 'platen'])));
    // As a daemon without an account of its own would try.
    const write = spawnSync('sh', ['-c', `echo >> /proc/${answer.pid}/cwd/pg_hba.conf`], { ...nobody });
    expect(String(write.stderr)).toContain('Permission denied');
  });

  it('takes over a database that nobody has, from an earlier version', async () => {
    const dataDir = freshDirectory();
    const first = await startParent(dataDir, 'one');
    first.child.stdin.end();
    await once(first.child, 'exit');
    const home = join(dataDir, 'postgres');
    execFileSync('chown', ['-R', `${nobody?.uid}:${nobody?.gid}`, home]);
    const second = await startParent(dataDir, 'two');
    expect(second.answer.kept).toEqual(['one', 'two']);
    expect(execFileSync('find', [home, '!', '-user', 'platen'], { encoding: 'utf8' })).toBe('');
  });

  it('does not run in a directory that is nobody’s', async () => {
    const dataDir = freshDirectory();
    chownSync(dataDir, nobody?.uid ?? 0, nobody?.gid ?? 0);
    const { answer } = await startParent(dataDir);
    expect(answer).toMatchObject({ error: 'directory-unusable' });
    expect(answer.message).toContain(`chown root ${dataDir}`);
  });

  it.runIf(nobodyCanRun)("runs as the directory's owner, who can start it alone afterwards", async () => {
    const dataDir = freshDirectory();
    chownSync(dataDir, 1, 1);
    const first = await startParent(dataDir, 'by root');
    expect(statSync(`/proc/${first.answer.pid}`).uid).toBe(1);
    first.child.stdin.end();
    await once(first.child, 'exit');
    const second = await startParent(dataDir, 'by its owner', { uid: 1, gid: 1 });
    expect(second.answer).toMatchObject({ kept: ['by its owner', 'by root'] });
  });

  it('works in a directory that only root can enter', async () => {
    const top = freshDirectory();
    chmodSync(top, 0o700);
    const { answer } = await startParent(join(top, 'data'), 'one');
    expect(answer.kept).toEqual(['one']);
  });

  it.runIf(nobodyCanRun)('works for an ordinary user, and ends with a killed parent there too', async () => {
    const dataDir = freshDirectory();
    const { uid = 0, gid = 0 } = nobody ?? {};
    chownSync(dataDir, uid, gid);
    const first = await startParent(dataDir, 'one', { uid, gid });
    expect(statSync(`/proc/${first.child.pid}`).uid).toBe(uid);
    first.child.kill('SIGKILL');
    await gone(dataDir, 5_000);
    const second = await startParent(dataDir, 'two', { uid, gid });
    expect(second.answer.kept).toEqual(['one', 'two']);
  });

  it.runIf(nobodyCanRun)('tells an ordinary user whose directory it is not', async () => {
    const dataDir = freshDirectory();
    chmodSync(dataDir, 0o755);
    const { answer } = await startParent(dataDir, '', nobody);
    expect(answer).toMatchObject({ error: 'directory-unusable' });
    expect(answer.message).toContain(dataDir);
  });
});
