import { expect, test } from 'vitest';
import { Bell } from '../../src/queue/bell.ts';
import { MARKED } from '../../src/queue/lease.ts';

/** Keeps which names it has to hear of. */
class KeepingBell extends Bell {
  readonly names: string[] = [];
  protected override begin(name: string): void {
    this.names.push(`+${name}`);
  }
  protected override end(name: string): void {
    this.names.push(`-${name}`);
  }
}

test('a ring wakes the listeners of its lane, and nobody else', () => {
  const bell = new KeepingBell();
  const heard: [string, string | null][] = [];
  const listen = (name: string, who: string) => bell.listen(name, (what) => heard.push([who, what]));
  const stop = listen('a', 'the one');
  listen('a', 'the other');
  listen('b', 'a third');
  bell.ring('a', '');
  bell.ring('c', '');
  expect(heard.splice(0)).toEqual([
    ['the one', ''],
    ['the other', ''],
  ]);
  stop();
  stop();
  bell.ring('a', MARKED);
  bell.ringAll();
  expect(heard).toEqual([
    ['the other', MARKED],
    ['the other', null],
    ['a third', null],
  ]);
});

test('a name is heard of from its first listener on, until its last one has stopped', () => {
  const bell = new KeepingBell();
  const [one, other] = [bell.listen('a', () => undefined), bell.listen('a', () => undefined)];
  one();
  expect(bell.names).toEqual(['+a']);
  other();
  bell.listen('a', () => undefined);
  expect(bell.names).toEqual(['+a', '-a', '+a']);
});
