from .region_question import RegionQuestion as RegionQuestion
