"""An agent that is not ours, written from docs/agent-protocol.md: it prints each label as a line, and ends after one job."""
import asyncio
import base64
import datetime
import json
import os
import sys
import time
import urllib.request

import websockets
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PROTOCOL = 'platen.agent.1'
AGENT = 'agent-in-python'
PRINTER = 'serial-0a1b2c3d4e5f'


def base64url(raw):
    return base64.urlsafe_b64encode(raw).decode().rstrip('=')


def now():
    return datetime.datetime.utcnow().strftime('%Y-%m-%dT%H:%M:%S.%f')[:23] + 'Z'


class Agent:
    def __init__(self, invitation):
        self.origin, code = invitation.split('#')
        self.code = code.split('~')[0].replace('-', '')
        self.key = Ed25519PrivateKey.generate()
        self.process = base64url(os.urandom(16))
        self.state = None
        self.number = 0
        self.waiting = {}

    def signed(self, *parts):
        return base64url(self.key.sign('\n'.join(parts).encode()))

    def enroll(self):
        public = self.key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        public = base64url(public)
        signature = self.signed(PROTOCOL, 'enroll', self.origin, AGENT, public, self.code)
        body = {'code': self.code, 'agentId': AGENT, 'publicKey': public, 'origin': self.origin, 'signature': signature}
        request = urllib.request.Request(
            self.origin + '/agent/v1/enroll', json.dumps(body).encode(), {'content-type': 'application/json'})
        with urllib.request.urlopen(request, timeout=30) as answer:
            self.scope = json.load(answer)['scope']
        self.lane = PRINTER if self.scope is None else self.scope + '/' + PRINTER
        self.term = self.process + '.1'

    async def join(self):
        url = self.origin.replace('http', 'ws', 1) + '/agent/v1/lanes'
        self.socket = await websockets.connect(url, subprotocols=[PROTOCOL], compression=None, max_size=None)
        nonce = base64url(os.urandom(16))
        await self.send(kind='hello', agent=AGENT, process=self.process, nonce=nonce, version='python',
                        **({'state': self.state} if self.state else {}))
        challenge = json.loads(await self.socket.recv())
        signature = self.signed(PROTOCOL, 'join', self.origin, AGENT, self.process, nonce, challenge['nonce'],
                                self.state or '')
        await self.send(kind='proof', signature=signature)
        welcome = json.loads(await self.socket.recv())
        if welcome['kind'] != 'welcome':
            sys.exit('not let in: %s' % welcome)
        # A real one writes it down first, beside its key.
        self.state = welcome.get('state')
        await self.send(kind='stored')

    async def send(self, **frame):
        await self.socket.send(json.dumps(frame))

    async def ask(self, **frame):
        """Sends a frame, or an entry, and waits for its answer."""
        self.number += 1
        i = self.number
        answer = self.waiting[i] = asyncio.get_running_loop().create_future()
        if 'what' in frame:
            await self.send(kind='say', entries=[dict(frame, i=i)])
        else:
            await self.send(**dict(frame, i=i))
        return await asyncio.wait_for(answer, 30)

    async def listen(self):
        async for text in self.socket:
            frame = json.loads(text)
            if frame['kind'] == 'leased':
                self.waiting.pop(frame['i']).set_result(frame['answers'])
            elif frame['kind'] == 'answers':
                for answer in frame['answers']:
                    self.waiting.pop(answer['i']).set_result(answer)
            elif frame['kind'] == 'ring':
                self.rung.set()
            elif frame['kind'] == 'bye':
                sys.exit('sent away: %s' % frame)

    async def tell(self, report):
        answer = await self.ask(what='told', report=json.dumps(dict(report, agentId=AGENT, at=now())))
        assert answer.get('ok'), answer

    async def tell_of_itself(self, online):
        paper = {'id': 'zpl-203-50x25', 'name': '50 × 25 mm', 'language': 'zpl', 'dpi': 203, 'width': 50, 'height': 25}
        printer = {'id': PRINTER, 'name': 'python', 'evidence': 'serial', 'uri': 'socket://10.0.0.7', 'state': 'idle',
                   'reasons': [], 'confirmedBy': 'count', 'formats': [paper]}
        await self.tell({'kind': 'agent', 'name': 'Python', 'version': '1', 'tenantId': self.scope, 'online': online,
                         'printers': [printer]})

    async def lease(self, fresh):
        asked = time.monotonic()
        ask = {'lane': self.lane, 'term': self.term, 'fresh': fresh, 'reaches': True}
        [answer] = await self.ask(kind='lease', asks=[ask], length={'contended': 15000, 'alone': 60000})
        return None if answer['granted'] is None else asked + answer['granted'] / 1000 * 0.6

    async def take(self):
        """The next job; meanwhile the lease is kept."""
        number, fresh, heard = 0, True, 0
        while True:
            until = await self.lease(fresh)
            if until is not None:
                fresh = False
                number += 1
                taken = await self.ask(what='take', lane=self.lane, term=self.term, beside=[], number=number)
                if taken.get('job'):
                    return taken['job'], until
            if time.monotonic() - heard > 10:
                await self.tell_of_itself(True)
                heard = time.monotonic()
            self.rung.clear()
            try:
                await asyncio.wait_for(self.rung.wait(), 4)
            except asyncio.TimeoutError:
                pass

    async def print(self, taken, until):
        job = json.loads(taken['json'])
        hand = {'lane': self.lane, 'id': taken['id'], 'delivery': taken['delivery'], 'term': self.term}
        labels = [record for record in job['records'] for _ in range(job['copies'])]
        assert (await self.ask(what='note', order=1, note='all may be out', **hand))['ok']
        for label in labels:
            assert time.monotonic() < until
            print('label', json.dumps(label, sort_keys=True), flush=True)
        await self.tell({'kind': 'job', 'jobId': job['jobId'], 'printerId': PRINTER, 'delivery': taken['delivery'], 'seq': 0,
                         'status': 'printed', 'labels': {'sent': len(labels), 'printed': len(labels)}, 'reasons': []})
        assert (await self.ask(what='ended', **hand))['ok']

    async def run(self):
        self.rung = asyncio.Event()
        self.enroll()
        await self.join()
        listening = asyncio.create_task(self.listen())
        await self.tell_of_itself(True)
        await self.send(kind='listen', lanes=[self.lane])
        await self.print(*await self.take())
        assert (await self.ask(kind='giveBack', lane=self.lane, term=self.term))['ok']
        await self.tell_of_itself(False)
        listening.cancel()
        await self.socket.close()


asyncio.run(Agent(sys.argv[1]).run())
