/** Warns of an address at which no other machine reaches the service. */
const LOOPBACK = /^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

export function OnlyHere({ url, says }: { url: string; says: string }) {
  if (!URL.canParse(url) || !LOOPBACK.test(new URL(url).hostname)) return null;
  return <p class="note warn">{says}</p>;
}
