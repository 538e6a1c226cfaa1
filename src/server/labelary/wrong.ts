import { DoorError } from '../door-error.ts';

/** 400 for what is not as expected. */
export function wrong(what: string, expected: string): DoorError {
  return new DoorError(400, `${what} is not as expected: ${expected}`);
}
