/** The error that a call fails with. A call that does not fail fails the test. */
export async function fault(call: Promise<unknown>): Promise<Error> {
  return call.then(
    () => {
      throw new Error('expected a failure');
    },
    (error: Error) => error,
  );
}
