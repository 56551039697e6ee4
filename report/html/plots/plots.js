// What a report draws with, and no more of Apache ECharts: build.sh makes plots.min.js.gz of it.
import { init, use } from 'echarts/core';
import { BarChart, CustomChart, HeatmapChart, LineChart, LinesChart, ScatterChart } from 'echarts/charts';
import { DataZoomInsideComponent, GridComponent, TooltipComponent, VisualMapContinuousComponent } from 'echarts/components';
import { CanvasRenderer } from 'echarts/renderers';

use([
  BarChart, CustomChart, HeatmapChart, LineChart, LinesChart, ScatterChart,
  DataZoomInsideComponent, GridComponent, TooltipComponent, VisualMapContinuousComponent, CanvasRenderer,
]);
window.echarts = { init };
