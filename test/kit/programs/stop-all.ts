/**
 * Stops all that is running, the last one first, and empties the list: one that cannot be stopped leaves no other running, in
 * a process that goes on with the next file.
 * @throws what the first one threw that could not be stopped
 */
export async function stopAll<Part>(running: Part[], stop: (part: Part) => unknown): Promise<void> {
  const failures: unknown[] = [];
  for (const part of running.splice(0).reverse()) {
    try {
      await stop(part);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
