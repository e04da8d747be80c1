// The mechanism is where the data say.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { close, color, distance, drawn, find, open, patch, pixels, setTime } from './harness.mjs';
import { beamReport, cantilever, doublePendulumAt, f4, f8, fourbarAt, fourbarReport, links, modesReport, range, spatialReport } from './samples.mjs';

const point = (page, name) => page.evaluate((n) => window.pantograph.point(n), name);
const near = (a, b, tolerance, what) => assert.ok(Math.hypot(...a.map((c, k) => c - b[k])) <= tolerance, `${what}: ${a} is not ${b}`);

/** Pixels of a world point by the numbers of the projection, computed here. */
async function expected(page, p) {
  const c = await page.evaluate(() => window.pantograph.camera());
  if (c.kind === 'parallel') {
    const d = p.map((x, k) => x - c.target[k]);
    const along = (v) => v[0] * d[0] + v[1] * d[1] + v[2] * d[2];
    return [c.width / 2 + c.zoom * along(c.right), c.height / 2 - c.zoom * along(c.up)];
  }
  const times = (m, v) => range(4, (i) => range(4, (j) => m[4 * j + i] * v[j]).reduce((a, b) => a + b));
  const [x, y, , w] = times(c.projection, times(c.view, [...p, 1]));
  return [((x / w + 1) / 2) * c.width, ((1 - y / w) / 2) * c.height];
}

test('the pin of the four-bar is drawn where the closed formula puts it', async () => {
  const report = fourbarReport();
  Object.assign(report.scene, { springs: [], forces: [], sensors: [] });
  report.motions.length = 1;
  const page = await open(report);
  const view = await page.locator('.view').boundingBox();
  const pin = await color(page, 'pin');
  const fill = await color(page, 'pin-fill');
  for (const t of [0, 0.777, 2.5, 6.1234, 10]) {
    await setTime(page, t);
    const { B } = fourbarAt(t);
    const read = await point(page, 'pin');
    // Between frames 10 ms apart the page interpolates: an error of order h²/8 · acceleration.
    near(read.world, [...B, 0], 3e-4, `pin at ${t} s`);
    near((await point(page, 'coupler.end')).world, [...B, 0], 3e-4, `coupler end at ${t} s`);
    const want = await expected(page, [...B, 0]);
    near(read.screen, want, 0.5, `pixel of the pin at ${t} s`);
    const [x, y] = [Math.round(view.x + want[0]), Math.round(view.y + want[1])];
    const picture = await pixels(page, { x: x - 12, y: y - 12, width: 24, height: 24 });
    assert.ok(find(picture, pin, 60).n > 20, 'the ring of the pin is drawn');
    assert.ok(distance(picture.at(12, 12), fill) < 40, 'the pin is hollow');
    const hole = patch(picture, 12, 12);
    assert.ok(hole.n < 200, 'the ring is closed');
    near([x - 12 + hole.x - view.x, y - 12 + hole.y - view.y], want, 0.5, `drawn pin at ${t} s`);
  }
  await close(page);
});

test('a desired path is drawn where it lies, and the drawing makes room for it', async () => {
  const circle = (z) => range(101, (k) => [9 + 2 * Math.cos((2 * Math.PI * k) / 100), 1 + 2 * Math.sin((2 * Math.PI * k) / 100), z]);
  for (const [make, how] of [[fourbarReport, ''], [spatialReport, ''], [spatialReport, '#nowebgl']]) {
    const report = make();
    report.scene.paths = [{ name: 'desired path', points: circle(0) }];
    const page = await open(report, { hash: how });
    const view = await page.locator('.view').boundingBox();
    const green = await color(page, 'desired');
    let hits = 0;
    const seen = await pixels(page, view);
    for (const p of circle(0)) {
      const [x, y] = (await expected(page, p)).map(Math.round);
      assert.ok(x > 2 && y > 2 && x < view.width - 2 && y < view.height - 2, `${p} lies in the drawing`);
      for (const [dx, dy] of [[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]]) {
        if (distance(seen.at(x + dx, y + dy), green) < 80) { ++hits; break; }
      }
    }
    // Eight pixels of twelve are drawn.
    assert.ok(hits > 50, `${hits} of 101 points are drawn`);
    await close(page);
  }
});

test('every sign of a planar scene is drawn', async () => {
  const page = await open(fourbarReport());
  const view = await page.locator('.view').boundingBox();
  const picture = await pixels(page, view);
  for (const name of ['spring', 'force', 'sensor', 'ground', 'body-1', 'body-2', 'body-3', 'pin']) {
    assert.ok(find(picture, await color(page, name), 20).n > 20, name);
  }
  await close(page);
});

test('all kinds of shapes, joints and springs are drawn, planar and spatial, without an error', async () => {
  const turned = [0, 1, 0, -1, 0, 0, 0, 0, 1];
  const shapes = [
    { kind: 'bar', length: 1 }, { kind: 'bar', length: 1, width: 0.8, height: 0.1, at: [0, 0.2, 0], axes: turned }, { kind: 'box', size: [0.4, 0.2, 0.1] },
    { kind: 'cylinder', radius: 0.2, length: 0.3, axis: 'x' }, { kind: 'sphere', radius: 0.1, color: '#aa3377' },
    { kind: 'polygon', points: [[0, 0], [1, 0], [0, 1]] }, { kind: 'link', points: [[0, 0, 0]] }, { kind: 'link', points: [[0, 0, 0], [1, 0, 0], [0, 1, 0]] },
  ];
  const types = ['revolute', 'prismatic', 'cylindrical', 'universal', 'spherical', 'planar', 'weld', 'free', 'pin', 'slider', 'distance', 'coupling', 'gear', 'rack'];
  const joints = types.flatMap((type, k) => [-1, 0].map((body) => ({
    name: `${type} ${body}`, type, a: { body, at: [0.1 * k, 0, 0] }, b: { body: 1, at: [0, 0.1 * k, 0] }, axis: [1, 0, 0],
  })));
  const springs = ['linear', 'torsional'].flatMap((type) => ['spring', 'damper', 'both'].map((parts) => ({
    name: `${type} ${parts}`, type, parts, a: { body: -1, at: [1, 1, 0] }, b: { body: 0, at: [0.5, 0, 0] } })));
  for (const space of ['planar', 'spatial']) {
    for (const hash of space === 'spatial' ? ['', '#nowebgl'] : ['']) {
      const report = space === 'planar' ? fourbarReport() : spatialReport();
      report.panels = [];
      report.scene.bodies[0].shapes = shapes;
      Object.assign(report.scene, {
        joints, springs,
        forces: [{ name: 'F', type: 'force', body: 0, at: [0, 0, 0] }, { name: 'M', type: 'torque', body: 1, at: [0, 0, 0], direction: [0, 0, 1] }],
        sensors: ['encoder', 'angle', 'gyroscope', 'accelerometer', 'position', 'distance', 'force'].map((type) => ({ name: type, type, body: 0, at: [0, 0, 0] })),
      });
      const page = await open(report, { hash });
      await page.keyboard.press('n');
      await setTime(page, 1);
      const view = await page.locator('.view').boundingBox();
      assert.ok(find(await pixels(page, view), await color(page, 'sensor'), 20).n > 20);
      await close(page);
    }
  }
});

test('a slider moves on a rail that spans its travel', async () => {
  const times = range(51, (k) => 0.1 * k);
  const page = await open({
    format: 'pantograph-report', version: 1, title: 'Slider', model: 'slider',
    scene: {
      space: 'planar', size: 1, up: [0, 1, 0], bodies: [{ name: 'block', shapes: [] }],
      joints: [{ name: 'x', type: 'prismatic', a: { body: -1, at: [0, 0, 0] }, b: { body: 0, at: [0, 0, 0] }, axis: [1, 0, 0] }],
    },
    motions: [{ name: 'run', t: f8(times), poses: f4(times.flatMap((t) => [Math.sin(t), 0, 0])) }], panels: [],
  });
  await setTime(page, 1.5);
  const view = await page.locator('.view').boundingBox();
  const rail = find(await pixels(page, { ...view, height: view.height - 80 }), await color(page, 'ground'), 25);
  const [left] = await expected(page, [-1, 0, 0]);
  const [right] = await expected(page, [1, 0, 0]);
  assert.ok(rail.n > right - left, 'the rail is as long as the travel');
  near([rail.x], [(left + right) / 2], 8, 'middle of the rail');
  const block = await expected(page, [Math.sin(1.5), 0, 0]);
  near((await point(page, 'x')).screen, block, 0.5, 'block');
  await close(page);
});

/** Only the crank has a shape, so that nothing covers what a test looks for. */
function bare() {
  const report = fourbarReport();
  Object.assign(report.scene, { springs: [], forces: [], sensors: [] });
  report.scene.bodies[1].shapes = [];
  report.scene.bodies[2].shapes = [];
  return report;
}

test('ghosts show the later motions and can be hidden', async () => {
  const page = await open(bare());
  await setTime(page, 8);
  const ghost = await color(page, 'ghost-1');
  const surface = await color(page, 'surface');
  const view = await page.locator('.view').boundingBox();
  // Where the end of the ghost's crank is, translucent: between the colour of the paper and that of the ghost.
  const [x, y] = await expected(page, [...fourbarAt(8, 1.9).A.map((c) => 0.6 * c), 0]);
  const sample = async () => (await pixels(page, { x: Math.round(view.x + x) - 1, y: Math.round(view.y + y) - 1, width: 3, height: 3 })).at(1, 1);
  const shown = await sample();
  assert.ok(distance(shown, surface) > 15 && distance(shown, ghost) < distance(surface, ghost), `${shown}`);
  await page.locator('.ghost-key input').uncheck();
  await drawn(page);
  const hidden = await sample();
  assert.ok(distance(hidden, surface) < 15, `${hidden}`);
  await page.keyboard.press('g');
  await drawn(page);
  assert.ok(await page.locator('.ghost-key input').isChecked());
  await close(page);
});

test('the path of a point is drawn through its places', async () => {
  const page = await open(bare());
  await setTime(page, 10);
  await page.locator('summary').click();
  await page.getByLabel('coupler.end').check();
  await page.keyboard.press('Escape');
  await page.locator('.ghost-key input').uncheck();
  await setTime(page, 10);
  const view = await page.locator('.view').boundingBox();
  const trace = await color(page, 'series-1');
  for (const t of [0.2, 1.1]) {
    const [x, y] = await expected(page, [...fourbarAt(t).B, 0]);
    const picture = await pixels(page, { x: Math.round(view.x + x) - 4, y: Math.round(view.y + y) - 4, width: 8, height: 8 });
    assert.ok(find(picture, trace, 60).n >= 3, `path at ${t} s`);
  }
  await close(page);
});

test('pan, zoom and fit keep pixels and world together', async () => {
  const page = await open(fourbarReport());
  const fitted = await expected(page, [links.ground, 0, 0]);
  const view = await page.locator('.view').boundingBox();
  const [x, y] = [view.x + fitted[0], view.y + fitted[1]];
  await page.mouse.move(x, y);
  await page.mouse.wheel(0, -400);
  await drawn(page);
  near((await point(page, 'gamma')).screen, fitted, 0.5, 'the place under the wheel stays');
  const zoomed = (await page.evaluate(() => window.pantograph.camera())).zoom;
  await page.mouse.down();
  await page.mouse.move(x + 60, y + 30, { steps: 3 });
  await page.mouse.up();
  near((await point(page, 'gamma')).screen, [fitted[0] + 60, fitted[1] + 30], 0.5, 'dragged');
  await page.keyboard.press('-');
  assert.ok((await page.evaluate(() => window.pantograph.camera())).zoom < zoomed);
  await page.keyboard.press('f');
  near((await point(page, 'gamma')).screen, fitted, 0.5, 'fitted again');
  await close(page);
});

test('a spatial model is drawn with WebGL where the data say', async () => {
  const page = await open(spatialReport());
  assert.equal(await page.evaluate(() => window.pantograph.view), '3d');
  const view = await page.locator('.view').boundingBox();
  const surface = await color(page, 'surface');
  for (const t of [0, 2.005, 4.4]) {
    await setTime(page, t);
    const { end, elbow } = doublePendulumAt(t);
    near((await point(page, 'end')).world, end, 3e-4, `end at ${t} s`);
    near((await point(page, 'elbow')).world, elbow, 3e-4, `elbow at ${t} s`);
    const want = await expected(page, end);
    near((await point(page, 'end')).screen, want, 0.5, `pixel of the end at ${t} s`);
    const at = { x: Math.round(view.x + want[0]), y: Math.round(view.y + want[1]) };
    const [r, g, b] = (await pixels(page, { x: at.x - 5, y: at.y - 5, width: 3, height: 3 })).at(1, 1);
    assert.ok(r > g && g > b && r - b > 60, `the ball has the colour of the second body: ${[r, g, b]}`);
    assert.ok(distance([r, g, b], surface) > 60);
  }
  const before = await point(page, 'end');
  await page.mouse.move(view.x + 200, view.y + 300);
  await page.mouse.down();
  await page.mouse.move(view.x + 320, view.y + 320, { steps: 4 });
  await page.mouse.up();
  const turned = await point(page, 'end');
  assert.ok(Math.hypot(turned.screen[0] - before.screen[0], turned.screen[1] - before.screen[1]) > 5, 'orbit turns the view');
  assert.deepEqual(turned.world, before.world);
  await close(page);
});

test('without WebGL a spatial model is drawn in parallel projection and can be turned', async () => {
  const page = await open(spatialReport(), { hash: '#nowebgl' });
  assert.equal(await page.evaluate(() => window.pantograph.view), '2d');
  await setTime(page, 2);
  const { end } = doublePendulumAt(2);
  const want = await expected(page, end);
  near((await point(page, 'end')).screen, want, 0.5, 'end');
  const view = await page.locator('.view').boundingBox();
  const picture = await pixels(page, { x: Math.round(view.x + want[0]) - 20, y: Math.round(view.y + want[1]) - 20, width: 40, height: 40 });
  assert.ok(find(picture, await color(page, 'body-2'), 60).n > 20, 'the ball is drawn');
  await page.mouse.move(view.x + 200, view.y + 300);
  await page.mouse.down();
  await page.mouse.move(view.x + 300, view.y + 300, { steps: 4 });
  await page.mouse.up();
  const turned = (await point(page, 'end')).screen;
  assert.ok(Math.hypot(turned[0] - want[0], turned[1] - want[1]) > 5);
  near(turned, await expected(page, end), 0.5, 'end after turning');
  await close(page);
});

test('a browser that refuses WebGL gets the flat drawing', async () => {
  // Once it has none, once it promises it and gives it only to the first who asks.
  for (const given of [0, 1]) {
    const page = await open(spatialReport(), {
      init: `{
        let left = ${given};
        const original = HTMLCanvasElement.prototype.getContext;
        HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
          if (/webgl/.test(kind) && left-- <= 0) return null;
          return original.call(this, kind, ...rest);
        };
      }`,
    });
    assert.equal(await page.evaluate(() => window.pantograph.view), '2d');
    const view = await page.locator('.view').boundingBox();
    assert.ok(find(await pixels(page, view), await color(page, 'body-1'), 30).n > 50, 'it is drawn');
    if (given) page.problems = page.problems.filter((p) => !/WebGL/.test(p)); // three.js tells of its failure
    await close(page);
  }
});

test('mode shapes move about their pose by the amplitude', async () => {
  const page = await open(modesReport());
  const rest = fourbarAt(0.3).A;
  const displacement = async () => {
    const { world } = await point(page, 'beta');
    return Math.hypot(world[0] - rest[0], world[1] - rest[1]);
  };
  await page.evaluate(() => window.pantograph.mode(0));
  assert.ok((await displacement()) > 0.01);
  const full = await displacement();
  await page.evaluate(() => window.pantograph.amplitude(0.5));
  assert.ok(Math.abs((await displacement()) - full / 2) < 1e-3);
  await page.evaluate(() => window.pantograph.amplitude(0));
  assert.ok((await displacement()) < 1e-6);
  await page.locator('.amplitude input').fill('2');
  await setTime(page, 0.5);
  assert.ok((await displacement()) < 1e-6, 'a real shape passes through the pose at a quarter of its period');
  await page.getByRole('option', { name: /mode 2/ }).click();
  await drawn(page);
  assert.equal(await page.getByRole('option', { name: /mode 2/ }).getAttribute('aria-selected'), 'true');
  assert.ok((await displacement()) > 0.01, 'a complex shape does not');
  await close(page);
});

test('a beam bends by its cubic times the scale, which the reader changes', async () => {
  const report = beamReport();
  Object.assign(report.scene, { springs: [], sensors: [] });
  const page = await open(report);
  const view = await page.locator('.view').boundingBox();
  await setTime(page, 1);
  const { tip, at } = cantilever;
  const surface = await color(page, 'surface');
  const curveIsAt = async (scale) => {
    assert.equal(await page.evaluate(() => window.pantograph.deformation), scale);
    assert.equal(await page.locator('.deformed').textContent(), `deformation × ${scale}`);
    near((await point(page, 'beam.end')).world, [2, scale * tip, 0], 1e-6 * scale, 'end');
    near((await point(page, 'beam.middle')).world, [1, scale * tip * at(1), 0], 1e-6 * scale, 'middle');
    for (const x of [0.5, 1, 1.5]) {
      const want = await expected(page, [x, scale * tip * at(x), 0]);
      const picture = await pixels(page, { x: Math.round(view.x + want[0]) - 3, y: Math.round(view.y + want[1]) - 30, width: 6, height: 60 });
      const rows = range(60, (y) => y).filter((y) => distance(picture.at(3, y), surface) > 60);
      assert.ok(rows.length > 3, `the beam is drawn at ${x} m`);
      near([(rows[0] + rows.at(-1)) / 2], [30], 1.5, `height of the curve at ${x} m`);
    }
  };
  // A twentieth of 2 m is ten times the deflection of 10 mm.
  await curveIsAt(10);
  await page.getByLabel('Deformation', { exact: true }).fill('25');
  await drawn(page);
  await curveIsAt(25);
  await page.getByLabel('Deformation, in steps').fill('0');
  await drawn(page);
  await curveIsAt(0);
  await page.evaluate(() => window.pantograph.setDeformation(1));
  await drawn(page);
  await curveIsAt(1);
  await close(page);
});

test('springs and sensors move with the section of the beam they sit on', async () => {
  const page = await open({ ...beamReport(), deformation: 40 });
  const view = await page.locator('.view').boundingBox();
  assert.equal(await page.evaluate(() => window.pantograph.deformation), 40);
  await setTime(page, 1);
  const sensor = await color(page, 'sensor');
  const want = await expected(page, [1, 40 * cantilever.tip * cantilever.at(1), 0]);
  const picture = await pixels(page, { x: Math.round(view.x + want[0]) - 15, y: Math.round(view.y + want[1]) - 15, width: 30, height: 30 });
  assert.ok(find(picture, sensor, 40).n > 10, 'the gauge is on the drawn curve');
  await page.evaluate(() => window.pantograph.trace('beam.end'));
  await drawn(page);
  await close(page);
});

test('modes of a beam bend at the scale 1 by a tenth of the size', async () => {
  const page = await open(beamReport());
  await page.getByRole('tab', { name: 'Mode shapes' }).click();
  await drawn(page);
  assert.equal(await page.evaluate(() => window.pantograph.deformation), 1);
  near((await point(page, 'beam.end')).world, [2, 0.2, 0], 1e-6, 'end');
  near((await point(page, 'beam.middle')).world, [1, 0.2 * cantilever.at(1), 0], 1e-6, 'middle');
  await setTime(page, 1);
  near((await point(page, 'beam.end')).world, [2, -0.2, 0], 1e-6, 'end half a period later');
  await page.getByRole('tab', { name: 'Motion' }).click();
  await drawn(page);
  assert.equal(await page.evaluate(() => window.pantograph.deformation), 10);
  await close(page);
});

test('a report without beams has no scale', async () => {
  const page = await open(fourbarReport());
  assert.equal(await page.locator('.deformed, .deformation').count(), 0);
  await close(page);
});

test('motion and mode shapes share the drawing', async () => {
  const page = await open({ ...modesReport(), motions: fourbarReport().motions });
  await setTime(page, 3);
  near((await point(page, 'pin')).world, [...fourbarAt(3).B, 0], 3e-4, 'pin in motion');
  await page.getByRole('tab', { name: 'Mode shapes' }).click();
  await drawn(page);
  assert.ok(await page.locator('.mode-list').isVisible());
  await page.getByRole('tab', { name: 'Motion' }).click();
  await drawn(page);
  assert.ok(await page.locator('.mode-list').isHidden());
  assert.equal(await page.evaluate(() => window.pantograph.time), 3);
  await close(page);
});
